import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { DOCS_SCRIPT } from './docs-script';
import { DOCS_STYLE } from './docs-style';

export interface DocsPage {
  length: number;
  chunks(): Readable;
  /** Admits the page's own style and script by their hashes and nothing from elsewhere. */
  contentSecurityPolicy: string;
}

/** One HTML file without outside assets; its script renders `/api/v1/openapi.json`. */
export function docsPage(): DocsPage {
  const html = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dak API</title>
<link rel="icon" href="data:,">
<style>${DOCS_STYLE}</style>
</head>
<body>
<header>
  <a class="brand" href="#top">Dak <span>API</span></a>
  <input id="search" type="search" placeholder="Search path, summary, scope ( / )" aria-label="Search operations" autocomplete="off">
  <button id="theme" type="button" aria-label="Light or dark">◐</button>
</header>
<div class="layout">
  <nav id="nav" aria-label="Resources"></nav>
  <main id="main"><p class="muted">Loading…</p></main>
</div>
<noscript><p>The machine-readable document is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p></noscript>
<script>${DOCS_SCRIPT}</script>
</body>
</html>
`);
  return {
    length: html.length,
    chunks: () => Readable.from([html]),
    contentSecurityPolicy: [
      `default-src 'none'`,
      `script-src '${sourceHash(DOCS_SCRIPT)}'`,
      `style-src '${sourceHash(DOCS_STYLE)}'`,
      `connect-src 'self'`,
      `img-src data:`,
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
    ].join('; '),
  };
}

function sourceHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
