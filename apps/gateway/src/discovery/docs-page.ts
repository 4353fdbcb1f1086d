import { createHash } from 'node:crypto';
import { API_BASE } from '../http/route-table';
import { viewerPath } from './viewer-files';

/** Swagger UI's options: nothing is kept in the browser, and no validator elsewhere is asked. */
const OPTIONS = {
  url: `${API_BASE}/openapi.json`,
  dom_id: '#viewer',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  showExtensions: true,
  tryItOutEnabled: true,
  validatorUrl: null,
};

const SCRIPT = `
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle(${JSON.stringify(OPTIONS)});
`;

export const DOCS_PAGE = Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dak API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${viewerPath('swagger-ui.css')}">
</head>
<body>
<div id="viewer"></div>
<noscript><p>The machine-readable document is at <a href="${OPTIONS.url}">${OPTIONS.url}</a>.</p></noscript>
<script src="${viewerPath('swagger-ui-bundle.js')}"></script>
<script>${SCRIPT}</script>
</body>
</html>
`);

/** Admits the page's own script by its hash, the viewer's files, and requests to this API. */
export const DOCS_CONTENT_POLICY = [
  `default-src 'none'`,
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}' 'self'`,
  `style-src 'self'`,
  `connect-src 'self'`,
  // The viewer's style sheet carries its icons.
  `img-src data:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');
