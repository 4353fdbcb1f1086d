import type { ReplyValidator } from './validate-reply';

export interface ApiReply {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined without a body. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface ApiRequest {
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
    const hasBody = request.body !== undefined;
    const response = await fetch(this.siteUrl + fullPath, {
      method,
      headers: {
        ...(this.credential === null ? {} : { Authorization: `Bearer ${this.credential}` }),
        ...(hasBody ? { 'Content-Type': 'application/json' } : {}),
        ...request.headers,
      },
      ...(hasBody
        ? { body: typeof request.body === 'string' ? request.body : JSON.stringify(request.body) }
        : {}),
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
