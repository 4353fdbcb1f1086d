import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { docsPage } from './docs-page';
import { DOCS_SCRIPT } from './docs-script';

async function html(): Promise<string> {
  let text = '';
  for await (const chunk of docsPage().chunks()) text += String(chunk);
  return text;
}

describe('the documentation page', () => {
  it('has a script that parses and cannot end its own element', () => {
    expect(() => new Script(DOCS_SCRIPT)).not.toThrow();
    expect(DOCS_SCRIPT).not.toMatch(/<\/script/i);
  });

  it('admits exactly the script and style that are in it', async () => {
    const page = await html();
    for (const element of ['script', 'style']) {
      const [, source] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(page)!;
      const hash = createHash('sha256').update(source!).digest('base64');
      expect(docsPage().contentSecurityPolicy).toContain(`${element}-src 'sha256-${hash}'`);
    }
    expect(page).not.toMatch(/\son\w+=|style="/);
  });

  it('says its length in bytes', async () => {
    expect(docsPage().length).toBe(Buffer.byteLength(await html()));
  });
});
