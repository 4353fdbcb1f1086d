interface Node<Target> {
  children: Map<string, Node<Target>>;
  /** The child that takes any one segment. */
  parameter: Node<Target> | null;
  targets: Map<string, Found<Target>>;
}

interface Found<Target> {
  kind: 'found';
  target: Target;
  /** Names of the parameters in the order of their segments. */
  names: readonly string[];
}

export type MatchResult<Target> =
  Found<Target> | { kind: 'wrong_method'; allow: string } | { kind: 'missing' };

const MISSING = { kind: 'missing' } as const;

/** Finds a target by method and path in one walk over the segments; a literal segment wins over a parameter. */
export class PathMatcher<Target> {
  private readonly root: Node<Target> = node();

  /**
   * @param path `/a/{id}/b`
   * @throws Error when the same method and path were added before
   */
  add(method: string, path: string, target: Target): void {
    const names: string[] = [];
    let current = this.root;
    for (const segment of path.slice(1).split('/')) {
      const parameter = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (parameter !== undefined) {
        names.push(parameter);
        current.parameter ??= node();
        current = current.parameter;
        continue;
      }
      const next = current.children.get(segment) ?? node<Target>();
      current.children.set(segment, next);
      current = next;
    }
    if (current.targets.has(method)) throw new Error(`Two routes are ${method} ${path}.`);
    current.targets.set(method, { kind: 'found', target, names });
  }

  /**
   * @param path without the query
   * @param values receives the parameters as they stand, still percent-encoded
   */
  match(method: string, path: string, values: string[]): MatchResult<Target> {
    const end = find(this.root, path, 1, values);
    if (end === null) return MISSING;
    const found =
      end.targets.get(method) ?? (method === 'HEAD' ? end.targets.get('GET') : undefined);
    return found ?? { kind: 'wrong_method', allow: allowed(end) };
  }
}

function find<Target>(
  from: Node<Target>,
  path: string,
  start: number,
  values: string[],
): Node<Target> | null {
  const slash = path.indexOf('/', start);
  const isLast = slash < 0;
  const segment = isLast ? path.slice(start) : path.slice(start, slash);
  const literal = from.children.get(segment);
  if (literal !== undefined) {
    const found = isLast ? ending(literal) : find(literal, path, slash + 1, values);
    if (found !== null) return found;
  }
  if (from.parameter === null || segment === '') return null;
  values.push(segment);
  const found = isLast ? ending(from.parameter) : find(from.parameter, path, slash + 1, values);
  if (found === null) values.pop();
  return found;
}

function node<Target>(): Node<Target> {
  return { children: new Map(), parameter: null, targets: new Map() };
}

function ending<Target>(at: Node<Target>): Node<Target> | null {
  return at.targets.size === 0 ? null : at;
}

function allowed(at: Node<unknown>): string {
  const methods = [...at.targets.keys()];
  if (methods.includes('GET')) methods.push('HEAD');
  return methods.join(', ');
}
