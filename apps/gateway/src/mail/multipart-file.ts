import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import busboy from 'busboy';
import { InvalidError } from '@dak/kernel';

export interface MultipartFile {
  readonly filename: string;
  readonly contentType: string;
  /** Fields that came before the file. */
  readonly fields: ReadonlyMap<string, string>;
  /** Must be read to its end; rejects when the body ends early or holds a second file. */
  readonly content: AsyncIterable<Buffer>;
}

const FIELD = 'file';
const NEEDED = `Send multipart/form-data with the content in a field named ${FIELD}, after all other fields.`;

/**
 * The one file of a form (RFC 7578), while it arrives: nothing is kept in memory.
 * @throws InvalidError for a malformed form or one without the field `file`
 */
export function readMultipartFile(
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Buffer>,
): Promise<MultipartFile> {
  return new Promise((resolve, reject) => {
    let form: busboy.Busboy;
    try {
      form = busboy({
        headers,
        defParamCharset: 'utf8',
        limits: { files: 1, fields: 10, fieldSize: 1000, parts: 12, headerPairs: 50 },
      });
    } catch {
      reject(new InvalidError(`The form has no usable boundary. ${NEEDED}`));
      return;
    }
    const fields = new Map<string, string>();
    const source = Readable.from(body);
    let file: Readable | null = null;
    let failure: Error | null = null;
    const fail = (error: Error) => {
      failure ??= error;
      source.destroy();
      file?.destroy(failure);
      reject(failure);
    };
    /** What was sent is at fault for any error that is not of the body. */
    async function* contentOf(stream: Readable): AsyncIterable<Buffer> {
      try {
        for await (const chunk of stream) yield chunk as Buffer;
      } catch {
        throw failure ?? malformed();
      }
    }
    form.on('field', (name, value) => fields.set(name, value));
    form.on('file', (name, stream, { filename, mimeType }) => {
      // An error that no reader takes would end the process.
      stream.on('error', () => undefined);
      file = stream;
      if (name !== FIELD) {
        fail(
          new InvalidError(
            `The form has a file in the field ${JSON.stringify(name.slice(0, 60))}. ${NEEDED}`,
          ),
        );
        return;
      }
      resolve({
        filename: filename ?? '',
        contentType: mimeType,
        fields,
        content: contentOf(stream),
      });
    });
    form.on('filesLimit', () =>
      fail(new InvalidError('The form has more than one file. Send one per request.')),
    );
    form.on('error', () => fail(malformed()));
    form.on('close', () => {
      if (file === null) fail(new InvalidError(`The form has no file. ${NEEDED}`));
    });
    source.on('error', fail);
    source.pipe(form);
  });
}

function malformed(): InvalidError {
  return new InvalidError(`The form is malformed or incomplete. ${NEEDED}`);
}
