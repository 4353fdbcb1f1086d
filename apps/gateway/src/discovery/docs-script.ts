/** Plain browser code as text: it is inlined into the page, so it must not hold a closing script tag. */
export const DOCS_SCRIPT = String.raw`
'use strict';
const el = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.filter((child) => child !== null));
  return node;
};
const root = document.documentElement;
let theme = null;
try { theme = localStorage.getItem('theme'); } catch { /* storage is blocked: the system's choice holds */ }
if (theme) root.dataset.theme = theme;
document.getElementById('theme').addEventListener('click', () => {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', root.dataset.theme); } catch { /* lasts until reload */ }
});
const search = document.getElementById('search');
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
const resolve = (api, schema) => {
  let seen = 0;
  while (schema && schema.$ref && seen++ < 20) {
    schema = schema.$ref.slice(2).split('/').reduce((at, key) => at && at[key], api);
  }
  return schema || {};
};
const typeOf = (api, raw) => {
  const name = raw && raw.$ref ? raw.$ref.split('/').pop() : null;
  const schema = resolve(api, raw);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const any = schema.anyOf || schema.oneOf;
  if (any) return any.map((one) => typeOf(api, one)).join(' | ');
  if (schema.type === 'array') return 'array of ' + typeOf(api, schema.items || {});
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type || 'any';
  return name || type + (schema.format ? ' (' + schema.format + ')' : '');
};
const example = (api, raw, depth = 0) => {
  const schema = resolve(api, raw);
  if (schema.default !== undefined) return schema.default;
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const any = schema.anyOf || schema.oneOf;
  if (any) return example(api, any[0], depth);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    if (depth > 4) return {};
    return Object.fromEntries(Object.entries(schema.properties || {}).map(([key, value]) => [key, example(api, value, depth + 1)]));
  }
  if (type === 'array') return depth > 4 ? [] : [example(api, schema.items || {}, depth + 1)];
  if (type === 'integer' || type === 'number') return schema.minimum || 1;
  if (type === 'boolean') return true;
  if (schema.format === 'uuid') return '0190a5f0-0000-7000-8000-000000000000';
  if (schema.format === 'date-time') return '2026-01-31T09:30:00Z';
  if (schema.format === 'email') return 'name@example.com';
  return type === 'null' ? null : 'text';
};
const block = (text) => {
  const copy = el('button', { type: 'button', textContent: 'copy' });
  copy.addEventListener('click', () => navigator.clipboard.writeText(text).then(() => {
    copy.textContent = 'copied';
    setTimeout(() => { copy.textContent = 'copy'; }, 1200);
  }));
  return el('pre', {}, copy, el('code', { textContent: text }));
};
const table = (rows) => el('table', {}, el('tbody', {}, ...rows.map(([name, type, text]) =>
  el('tr', {}, el('td', {}, el('code', { textContent: name })), el('td', {}, el('span', { className: 'muted', textContent: type }), text ? el('div', { textContent: text }) : null)))));
const fieldsOf = (api, raw) => {
  const schema = resolve(api, raw);
  const required = schema.required || [];
  return Object.entries(schema.properties || {}).map(([name, value]) => [
    name + (required.includes(name) ? ' *' : ''), typeOf(api, value), resolve(api, value).description || value.description || '']);
};
const json = (content) => content && (content['application/json'] || null);
const curl = (api, path, method, op, base) => {
  const upper = method.toUpperCase();
  const lines = ['curl' + (upper === 'GET' ? '' : ' -X ' + upper) + ' ' + location.origin + base + path];
  if (!op.security || op.security.length) lines.push('-H "Authorization: Bearer $DAK_API_KEY"');
  const body = op.requestBody && json(op.requestBody.content);
  if (body) {
    lines.push('-H "Content-Type: application/json"');
    lines.push("-d '" + JSON.stringify(example(api, body.schema)).replaceAll("'", "'\\''") + "'");
  } else if (op.requestBody) {
    const type = Object.keys(op.requestBody.content)[0];
    lines.push(type === 'multipart/form-data' ? '-F file=@FILE' : '-H "Content-Type: ' + type + '" --data-binary @FILE');
  }
  return lines.join(' \\\n  ');
};
const operation = (api, path, method, op, base) => {
  const body = el('div', {});
  if (op.description) body.append(el('p', { textContent: op.description }));
  const needs = [...(op['x-scopes'] || []), ...(op['x-role'] ? ['role ' + op['x-role']] : [])];
  body.append(el('p', {}, ...(needs.length ? needs.map((name) => el('span', { className: 'pill', textContent: name })) : [el('span', { className: 'pill', textContent: 'no scope' })])));
  if (op.parameters.length) {
    body.append(el('h3', { textContent: 'Parameters' }), table(op.parameters.map((one) => [
      one.name + (one.required ? ' *' : ''), one.in + ', ' + typeOf(api, one.schema), one.description || ''])));
  }
  const request = op.requestBody && json(op.requestBody.content);
  if (request) body.append(el('h3', { textContent: 'Body' }), table(fieldsOf(api, request.schema)));
  body.append(el('h3', { textContent: 'Try' }), block(curl(api, path, method, op, base)));
  for (const [status, raw] of Object.entries(op.responses)) {
    if (Number(status) >= 300) continue;
    const reply = resolve(api, raw);
    body.append(el('h3', { textContent: status + ' ' + reply.description }));
    const content = json(reply.content);
    if (content) body.append(block(JSON.stringify(example(api, content.schema), null, 2)));
  }
  const errors = Object.entries(op.responses).filter(([status]) => Number(status) >= 400);
  body.append(el('h3', { textContent: 'Errors' }), table(errors.map(([status, raw]) => [status, '', resolve(api, raw).description])));
  return body;
};
const show = (api) => {
  const main = document.getElementById('main');
  const nav = document.getElementById('nav');
  main.replaceChildren(el('h1', { id: 'top', textContent: api.info.title + ' API ' + api.info.version }),
    el('p', { className: 'muted', textContent: api.info.description }));
  const cards = [];
  for (const { name } of api.tags) {
    const section = el('section', {}, el('h2', { id: 'tag-' + name, textContent: name.replaceAll('-', ' ') }));
    let count = 0;
    for (const [path, item] of Object.entries(api.paths)) {
      const base = item.servers ? '' : api.servers[0].url;
      for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
        const op = item[method];
        if (!op || op.tags[0] !== name) continue;
        count += 1;
        const card = el('details', { className: 'op', id: op.operationId },
          el('summary', {}, el('span', { className: 'method ' + method, textContent: method.toUpperCase() }),
            el('code', { className: 'path', textContent: base + path }), el('span', { className: 'muted', textContent: op.summary })));
        card.addEventListener('toggle', () => {
          if (card.open && card.children.length === 1) card.append(operation(api, path, method, op, base));
        });
        cards.push({ card, section, text: [path, method, op.summary, name, ...(op['x-scopes'] || [])].join(' ').toLowerCase() });
        section.append(card);
      }
    }
    main.append(section);
    nav.append(el('a', { href: '#tag-' + name }, name.replaceAll('-', ' '), el('span', { textContent: String(count) })));
  }
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const one of cards) one.card.hidden = !words.every((word) => one.text.includes(word));
    for (const section of main.querySelectorAll('section')) section.hidden = !section.querySelector('details:not([hidden])');
  });
  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted) { if (wanted.tagName === 'DETAILS') wanted.open = true; wanted.scrollIntoView(); }
};
fetch('/api/v1/openapi.json').then((reply) => reply.json()).then(show).catch((error) => {
  document.getElementById('main').replaceChildren(el('p', { textContent: 'The document could not be loaded: ' + error.message }));
});
`;
