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
    const fail = (error: Error) => {
      file?.destroy(error);
      reject(error);
    };
    form.on('field', (name, value) => fields.set(name, value));
    form.on('file', (name, stream, { filename, mimeType }) => {
      file = stream;
      if (name !== FIELD) {
        stream.resume();
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
        content: stream as AsyncIterable<Buffer>,
      });
    });
    form.on('filesLimit', () =>
      fail(new InvalidError('The form has more than one file. Send one per request.')),
    );
    form.on('error', () =>
      fail(new InvalidError(`The form is malformed or incomplete. ${NEEDED}`)),
    );
    form.on('close', () => {
      if (file === null) fail(new InvalidError(`The form has no file. ${NEEDED}`));
    });
    source.on('error', fail);
    source.pipe(form);
  });
}
