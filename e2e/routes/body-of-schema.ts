import { inHours, type Parts } from './nouns/noun';

/** The part of JSON Schema that bodies of requests are made with. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: readonly unknown[];
  examples?: readonly unknown[];
  minimum?: number;
  maxLength?: number;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
}

/** What ids of other records in a body name, by the field. */
const RECORDS: Readonly<Record<string, (parts: Parts) => string>> = {
  mailbox_id: ({ mailbox }) => mailbox.id,
  conversation_id: ({ mailbox }) => mailbox.conversation.id,
  message_id: ({ mailbox }) => mailbox.conversation.messageIds[0],
  user_id: ({ tenant }) => tenant.member.id,
  department_id: ({ tenant }) => tenant.departmentId,
};

/**
 * A body with all that the schema requires; one that requires nothing, of a change, has one text.
 * @param text what strings say: a marker that only readers of the record may see
 */
export function bodyOfSchema(
  root: unknown,
  parts: Parts,
  text: string,
  isChange: boolean,
): Record<string, unknown> {
  const definitions = (root as Schema).$defs ?? {};
  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : definitions[schema.$ref.split('/').at(-1)!]!;

  const objectOf = (schema: Schema, isPartial: boolean): Record<string, unknown> => {
    const { properties = {}, required = [] } = schema;
    const texts = Object.keys(properties).filter((name) => isFreeText(resolved(properties[name]!)));
    const names = required.length > 0 || !isPartial ? required : texts.slice(0, 1);
    return Object.fromEntries(names.map((name) => [name, valueOf(name, properties[name]!)]));
  };

  const valueOf = (name: string, given: Schema): unknown => {
    const schema = resolved(given);
    const [example] = schema.examples ?? schema.enum ?? [];
    if (schema.const !== undefined) return schema.const;
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return valueOf(name, choices[0]!);
    switch (typesOf(schema)[0]) {
      case 'string':
        if (isFreeText(schema)) return text.slice(0, schema.maxLength);
        return formatted(name, schema, parts, text) ?? example ?? text;
      case 'integer':
      case 'number':
        return example ?? Math.max(schema.minimum ?? 1, 1);
      case 'boolean':
        return false;
      case 'array':
        return [valueOf(name.replace(/s$/, ''), schema.items!)];
      case 'object':
        return objectOf(schema, false);
      default:
        throw new Error(`${name}: a value of ${JSON.stringify(schema)} is not derived`);
    }
  };

  return objectOf(resolved(root as Schema), isChange);
}

function typesOf({ type = [] }: Schema): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function isFreeText(schema: Schema): boolean {
  const { format, enum: values, pattern } = schema;
  return (
    typesOf(schema)[0] === 'string' && [format, values, pattern].every((one) => one === undefined)
  );
}

/** Undefined for a text without a known format. */
function formatted(
  name: string,
  { format }: Schema,
  parts: Parts,
  text: string,
): string | undefined {
  switch (format) {
    case 'uuid': {
      const record = RECORDS[name];
      if (record === undefined) throw new Error(`${name}: which record is that?`);
      return record(parts);
    }
    case 'email':
      return `${text.replaceAll(' ', '-')}@elsewhere.example`;
    case 'date-time':
      return inHours(24);
    case 'uri':
      return `https://elsewhere.example/${text.replaceAll(' ', '-')}`;
    default:
      return undefined;
  }
}
