import { TestEnvironment } from 'jest-environment-node';
import { OpenHandles } from './open-handles';

/** What is being closed when a suite ends has so long to be closed. */
const GRACE_MS = 1_000;

/** A test, or a block of them. */
interface Tests {
  readonly errors?: readonly unknown[];
  readonly children?: readonly Tests[];
}

interface Run {
  readonly unhandledErrors: readonly unknown[];
  readonly rootDescribeBlock: Tests;
}

/**
 * Node, and a suite that passed fails after all when it leaves something open that would keep its process alive.
 * The failure of a test comes first: it may be the reason why nothing was closed. To look costs nothing, unlike
 * `--detectOpenHandles`.
 */
export default class NodeWithoutLeaks extends TestEnvironment {
  readonly #handles = new OpenHandles();
  readonly #path: string;
  #hasPassed = false;

  constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
    super(...given);
    this.#path = given[1].testPath;
  }

  handleTestEvent(event: { readonly name: string }, run: Run): void {
    if (event.name !== 'run_finish') return;
    this.#hasPassed = run.unhandledErrors.length === 0 && hasPassed(run.rootDescribeBlock);
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    const left = this.#hasPassed ? await this.#handles.leftOpen(GRACE_MS) : [];
    this.#handles.close();
    if (left.length > 0) throw new Error(`${this.#path} leaves open: ${left.join(', ')}.`);
  }
}

function hasPassed({ errors = [], children = [] }: Tests): boolean {
  return errors.length === 0 && children.every(hasPassed);
}
