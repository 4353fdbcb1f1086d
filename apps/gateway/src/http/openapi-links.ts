import type { JsonSchema } from './json-schema';
import type { Method, Route } from './route';

type Place = Pick<Route, 'method' | 'path'>;

/** An operation that is reached with ids of another one's reply. */
interface Target {
  operationId: string;
  method: Method;
  /** Before the last parameter, such as `/conversations/{id}/messages`. */
  collection: string;
  parameter: string;
  /** After the last parameter: empty for the record itself. */
  rest: string;
}

/** `GET /conversations/{id}/messages` → `get_conversations_id_messages`. */
export function operationId({ method, path }: Place): string {
  const words = path.replaceAll(/[{}.]/g, '').split(/[/-]/).filter(Boolean);
  return [method.toLowerCase(), ...(words.length === 0 ? ['index'] : words)].join('_');
}

/**
 * The links of OpenAPI (§4.8.20) that the route table implies: from a list or a new record to the record and the lists
 * below it (`/labels` → `/labels/{id}`), and from a member such as `mailbox_id` to the record that it names.
 */
export class OperationLinks {
  private readonly targets: readonly Target[];

  constructor(routes: readonly Place[]) {
    this.targets = routes.flatMap(targetOf);
  }

  /** @param record schema of one record of the reply, at `pointer`: its body, or the first of a list */
  from({ path }: Place, record: JsonSchema, pointer: string): Record<string, JsonSchema> {
    const members = (record['properties'] ?? {}) as Record<string, JsonSchema>;
    const links: Record<string, JsonSchema> = {};
    const link = ({ operationId, collection, parameter }: Target, member: string): void => {
      const above = [...collection.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      links[operationId] ??= {
        operationId,
        parameters: {
          ...Object.fromEntries(above.map((name) => [name, `$request.path.${name}`])),
          [parameter]: `$response.body#${pointer}/${member}`,
        },
      };
    };
    for (const target of this.targets) {
      if (isBelow(path, target)) {
        const member = [target.parameter, 'id'].find((name) => isId(members[name]));
        if (member !== undefined) link(target, member);
      } else if (
        target.method === 'GET' &&
        target.rest === '' &&
        !target.collection.includes('{')
      ) {
        const member = `${nounOf(target.collection)}_id`;
        if (isId(members[member])) link(target, member);
      }
    }
    return links;
  }
}

function targetOf(route: Place): Target[] {
  const [, collection, parameter, rest] = /^(.*)\/\{(\w+)\}([^{}]*)$/.exec(route.path) ?? [];
  if (collection === undefined || parameter === undefined || rest === undefined) return [];
  // Below a record, only reads: the other routes change it.
  if (rest !== '' && route.method !== 'GET') return [];
  return [{ operationId: operationId(route), method: route.method, collection, parameter, rest }];
}

/** `/mailboxes/{id}/imports` makes what `/imports/{id}` shows. */
function isBelow(path: string, { collection }: Target): boolean {
  return path === collection || (/^\/[^/]+$/.test(collection) && path.endsWith(`}${collection}`));
}

/** A member that is always there and fits a path. */
function isId(schema: JsonSchema | undefined): boolean {
  return schema?.['type'] === 'string' || schema?.['type'] === 'integer';
}

/** `/settings/api-keys` → `api_key`, `/mailboxes` → `mailbox`. */
function nounOf(collection: string): string {
  const last = collection.slice(collection.lastIndexOf('/') + 1);
  return last.replace(/(?<=x)es$|s$/, '').replaceAll('-', '_');
}
