import { InvalidError } from '@dak/kernel';

/** `mailbox_ids` → `mailboxIds`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;

/** The fields of a request that a message lacks, as they are and as JSON; those of its parts, too. */
type Lost<Body, Message> = {
  [Name in keyof Body & string]: Camel<Name> extends keyof Message
    ? LostWithin<NonNullable<Body[Name]>, NonNullable<Message[Camel<Name>]>>
    : `${Camel<Name>}Json` extends keyof Message
      ? never
      : Name;
}[keyof Body & string];

type LostWithin<Part, Member> = Part extends readonly (infer One)[]
  ? Member extends readonly (infer Other)[]
    ? LostWithin<One, Other>
    : never
  : Part extends object
    ? // The names in a map are data: they must not be turned into those of fields.
      string extends keyof Part
      ? 'a map'
      : Lost<Part, Member>
    : never;

interface MessageType<Message> {
  fromPartial(partial: object): Message;
}

/**
 * A request as its message: `mailbox_ids` fills `mailboxIds`, `settings` fills `settingsJson`. Null and
 * absent are the same; `fields` of the message distinguishes them where that matters (see {@link sentFields}).
 * A field that the message lacks does not compile.
 * @param rest fields of the message that the request does not have
 */
export function messageOf<Message extends object, Body extends object>(
  type: MessageType<Message>,
  body: Body & ([Lost<Body, Message>] extends [never] ? unknown : { lost: Lost<Body, Message> }),
  rest: Partial<Message> = {},
): Message {
  const message: Record<string, unknown> = { ...(rest as object) };
  const empty = type.fromPartial({});
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    const member = camelOf(name);
    if (`${member}Json` in empty) message[`${member}Json`] = jsonField(value as object);
    else message[member] = renamed(value, camelOf);
  }
  return type.fromPartial(message);
}

/**
 * The request in a message, as {@link messageOf} has put it there, for its schema to parse.
 * @param fields only these, null where the message has nothing; absent = all that the message has
 * @throws InvalidError for broken JSON
 */
export function requestOf(message: object, fields?: readonly string[]): Record<string, unknown> {
  const request: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(message)) {
    if (value === undefined) continue;
    if (!(value instanceof Uint8Array)) request[snakeOf(member)] = renamed(value, snakeOf);
    else if (value.length > 0) {
      const name = snakeOf(member.replace(/Json$/, ''));
      request[name] = jsonOf(name, value);
    }
  }
  if (fields === undefined) return request;
  return Object.fromEntries(fields.map((name) => [name, request[name] ?? null]));
}

/** Which fields of `shape` a body has, null included, by their API names. */
export function sentFields(shape: object, body: object): string[] {
  const sent = new Map<string, unknown>(Object.entries(body));
  return Object.keys(shape).filter((name) => sent.get(name) !== undefined);
}

/** An object as a service takes it; empty bytes stand for an absent one. */
export function jsonField(value: object | undefined): Buffer {
  return value === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(value));
}

function jsonOf(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  } catch {
    throw new InvalidError(`${name} must be valid JSON.`);
  }
}

/** A part of a request or message, with the names of the other. */
function renamed(value: unknown, nameOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, nameOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [nameOf(name), renamed(part, nameOf)]),
  );
}

const camelOf = remembered((name) =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
);
const snakeOf = remembered((member) =>
  member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

/** Names are those of schemas and messages, of which there are few. */
function remembered(nameOf: (name: string) => string): (name: string) => string {
  const names = new Map<string, string>();
  return (name) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const made = nameOf(name);
    names.set(name, made);
    return made;
  };
}
