/** One field of a machine-readable report; `name` in lower case, `value` unfolded and trimmed. */
export interface ReportField {
  name: string;
  value: string;
  /** True when at least one blank line stands before the field. */
  afterBlank: boolean;
}

const FIELD = /^([!-9;-~]{1,76})[ \t]*:[ \t]*(.*)$/;

/**
 * The fields of `message/delivery-status`, `message/feedback-report` or `message/disposition-notification`
 * (RFC 3464 §2.1, RFC 5965 §3, RFC 8098 §3.1). Any line end, bare CR included, as some gateways convert them.
 * Blank lines are kept as a mark on the next field because peers add and forget them; lines that are no field
 * are taken as a continuation of the one before, as Exchange breaks long diagnostics without indenting.
 */
export function parseReportFields(body: string): ReportField[] {
  const fields: ReportField[] = [];
  let afterBlank = false;
  for (const line of body.split(/\r\n|\n|\r/)) {
    if (line.trim() === '') {
      afterBlank = true;
      continue;
    }
    const last = fields.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last && !afterBlank) last.value = `${last.value} ${line.trim()}`.trim();
      continue;
    }
    const match = FIELD.exec(line);
    if (match) {
      const [, name = '', value = ''] = match;
      fields.push({ name: name.toLowerCase(), value: value.trim(), afterBlank });
    } else if (last && !afterBlank) {
      last.value = `${last.value} ${line.trim()}`;
    }
    afterBlank = false;
  }
  return fields;
}

/** The first value of a field, null when the report has none; `name` in lower case. */
export function reportField(fields: readonly ReportField[], name: string): string | null {
  return fields.find((field) => field.name === name)?.value ?? null;
}

/**
 * The address of a typed address field ("rfc822; a@example.org", RFC 3464 §2.3.1), without brackets. The escapes of
 * `utf-8` addresses (`\x{5186}`, RFC 6533 §3) are undone. Null when nothing is left.
 */
export function reportAddress(value: string | null): string | null {
  if (value === null) return null;
  const address = value
    .replace(/^[ \t]*[A-Za-z0-9/-]{1,20}[ \t]*;/, '')
    .replace(/\\x\{([0-9A-Fa-f]{1,6})\}/g, (escape, hex: string) => {
      const point = Number.parseInt(hex, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : escape;
    })
    .trim()
    .replace(/^<(.*)>$/, '$1')
    .trim();
  return address === '' ? null : address;
}

/** The name of a typed MTA field ("dns; mx.example.org", RFC 3464 §2.2.2). */
export function reportMta(value: string | null): string | null {
  const name = value?.replace(/^[ \t]*[A-Za-z0-9/-]{1,20}[ \t]*;/, '').trim();
  return name ? name : null;
}
