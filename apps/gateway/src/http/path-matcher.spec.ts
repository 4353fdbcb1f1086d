import { PathMatcher } from './path-matcher';

const matcher = new PathMatcher<string>();
for (const [method, path] of [
  ['GET', '/a'],
  ['GET', '/a/{id}'],
  ['POST', '/a/{id}'],
  ['GET', '/a/fixed'],
  ['GET', '/a/{id}/b/{other}'],
  ['POST', '/a/bulk/run'],
] as const) {
  matcher.add(method, path, `${method} ${path}`);
}

function find(method: string, path: string): [unknown, string[]] {
  const values: string[] = [];
  const match = matcher.match(method, path, values);
  return [match.kind === 'found' ? match.target : match.kind, values];
}

describe('the path matcher', () => {
  it('finds literal and parameter segments', () => {
    expect(find('GET', '/a')).toEqual(['GET /a', []]);
    expect(find('GET', '/a/1')).toEqual(['GET /a/{id}', ['1']]);
    expect(find('GET', '/a/1/b/2')).toEqual(['GET /a/{id}/b/{other}', ['1', '2']]);
  });

  it('prefers a literal and goes back to the parameter where the literal leads nowhere', () => {
    expect(find('GET', '/a/fixed')).toEqual(['GET /a/fixed', []]);
    expect(find('GET', '/a/fixed/b/2')).toEqual(['GET /a/{id}/b/{other}', ['fixed', '2']]);
  });

  it('takes HEAD for GET and names the allowed methods', () => {
    expect(find('HEAD', '/a/1')[0]).toBe('GET /a/{id}');
    expect(matcher.match('PUT', '/a/1', [])).toEqual({
      kind: 'wrong_method',
      allow: 'GET, POST, HEAD',
    });
  });

  it('misses empty segments, longer paths and unknown ones', () => {
    for (const path of ['/', '', '//', '/a/', '/a//b/2', '/a/1/b', '/a/1/b/2/c', '/b']) {
      expect([path, find('GET', path)]).toEqual([path, ['missing', []]]);
    }
  });

  it('refuses the same route twice', () => {
    expect(() => matcher.add('GET', '/a/{name}', 'again')).toThrow('Two routes');
  });
});
