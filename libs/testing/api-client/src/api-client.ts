import type { ReplyValidator } from './validate-reply';

export interface ApiReply {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined without a body. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface ApiRequest {
  /** Sent as JSON; text, bytes and forms go out as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls the API as a client would; every reply is held against the OpenAPI document. */
export class ApiClient {
  constructor(
    private readonly siteUrl: string,
    private readonly credential: string | null,
    private readonly validate: ReplyValidator,
  ) {}

  get(path: string, headers?: Record<string, string>): Promise<ApiReply> {
    return this.call('GET', path, headers === undefined ? {} : { headers });
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiReply> {
    return this.call('POST', path, { body, ...(headers === undefined ? {} : { headers }) });
  }

  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiReply> {
    return this.call('PATCH', path, { body, ...(headers === undefined ? {} : { headers }) });
  }

  put(path: string, body: unknown): Promise<ApiReply> {
    return this.call('PUT', path, { body });
  }

  delete(path: string, headers?: Record<string, string>): Promise<ApiReply> {
    return this.call('DELETE', path, headers === undefined ? {} : { headers });
  }

  /** @param path relative to `/api/v1`, or absolute when it begins with `//` */
  async call(method: string, path: string, request: ApiRequest = {}): Promise<ApiReply> {
    const fullPath = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
    const { content, type } = bodyOf(request.body);
    const response = await fetch(this.siteUrl + fullPath, {
      method,
      headers: {
        ...(this.credential === null ? {} : { Authorization: `Bearer ${this.credential}` }),
        ...(type === null ? {} : { 'Content-Type': type }),
        ...request.headers,
      },
      ...(content === null ? {} : { body: content }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    const reply: ApiReply = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
    };
    this.validate(method, fullPath, reply);
    return reply;
  }
}

/** The type is null where `fetch` knows it or the caller names it. */
function bodyOf(body: unknown): { content: RequestInit['body']; type: string | null } {
  if (body === undefined) return { content: null, type: null };
  if (body instanceof FormData) return { content: body, type: null };
  if (body instanceof Uint8Array) return { content: new Uint8Array(body), type: null };
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  return { content, type: 'application/json' };
}
