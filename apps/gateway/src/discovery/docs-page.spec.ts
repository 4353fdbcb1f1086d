import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { DOCS_CONTENT_POLICY, DOCS_PAGE } from './docs-page';
import { VIEWER_FILES, ViewerFiles, viewerPath } from './viewer-files';

const HTML = DOCS_PAGE.toString();

describe('the documentation page', () => {
  it('admits its own script by the hash of what stands in it, and no other inline script or style', () => {
    const inline = [...HTML.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, source]) => source!);
    expect(inline).toHaveLength(1);
    expect(() => new Script(inline[0]!)).not.toThrow();
    const hash = createHash('sha256').update(inline[0]!).digest('base64');
    expect(DOCS_CONTENT_POLICY).toContain(`script-src 'sha256-${hash}' 'self';`);
    expect(DOCS_CONTENT_POLICY).not.toMatch(/unsafe|https?:|\*/);
    expect(HTML).not.toMatch(/\son\w+=|\sstyle="|<style/);
  });

  it('loads the viewer from this site alone', () => {
    const loaded = [...HTML.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
    expect(loaded.sort()).toEqual(
      ['data:,', '/api/v1/openapi.json', ...VIEWER_FILES.map(viewerPath)].sort(),
    );
  });

  it.each(VIEWER_FILES)(
    'shows with %s, which names no file of another site to load',
    async (file) => {
      const text = (await new ViewerFiles().read(file)).toString();
      expect(text.length).toBeGreaterThan(100_000);
      expect(text).not.toMatch(/url\(\s*["']?https?:|@import/);
    },
  );
});
