/** Statements and the parts of them that have lines of their own; settings and locks of a connection belong to no table. */
const SQL =
  /^\s*(select\s|insert\s+into\s|update\s+\w+\s|delete\s+from\s|with\s+(recursive\s+)?\w+\s+as\s)|\n\s*(from|((left|inner|cross)\s+)?join|where)\s+\w/;
const OF_CONNECTION = /^\s*select (set_config|pg_\w*(lock|snapshot)\w*)\(/;

/** SQL only where the name of the file or of its folder says so. */
const STORES = [
  'apps/*/src/**/*-store.ts',
  'apps/*/src/**/*-sql.ts',
  'apps/*/src/{db,database}/**/*.ts',
];

const rule = {
  meta: {
    type: 'problem',
    messages: {
      sql: 'SQL stands in `*-store.ts`, in `*-sql.ts` where it is a fragment, or in `db/`: an operation calls a function of its store.',
    },
    schema: [],
  },
  create(context) {
    const check = (node, text) => {
      if (SQL.test(text) && !OF_CONNECTION.test(text)) context.report({ node, messageId: 'sql' });
    };
    return {
      Literal: (node) => typeof node.value === 'string' && check(node, node.value),
      TemplateElement: (node) => check(node, node.value.cooked ?? node.value.raw),
    };
  },
};

/** For the ESLint configuration, and for the fixture that proves it. */
export const sqlInStores = {
  files: ['apps/*/src/**/*.ts'],
  // Backups and their commands read what belongs to no service.
  ignores: [...STORES, '**/*.spec.ts', 'apps/standalone/**'],
  plugins: { dak: { rules: { 'sql-in-stores': rule } } },
  rules: { 'dak/sql-in-stores': 'error' },
};
