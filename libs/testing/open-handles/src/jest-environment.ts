import { TestEnvironment } from 'jest-environment-node';
import { leftOpen, openHandles } from './open-handles';

/** What is being closed when a suite ends has so long to be closed. */
const GRACE_MS = 1_000;

/**
 * Node, and a suite fails that leaves a server or a child, which would keep its process alive. To look costs
 * nothing, unlike `--detectOpenHandles`.
 */
export default class NodeWithoutLeaks extends TestEnvironment {
  readonly #before = openHandles();
  readonly #path: string;

  constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
    super(...given);
    this.#path = given[1].testPath;
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    const left = await leftOpen(this.#before, GRACE_MS);
    if (left.length > 0) throw new Error(`${this.#path} leaves open: ${left.join(', ')}.`);
  }
}
