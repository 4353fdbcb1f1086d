/** Rules inside and across projects that Nx tags cannot see. `scripts/check-boundaries.mjs` proves each one with a fixture. */
const TESTS = '(\\.spec\\.ts$|/test/|^e2e/|(^|/)bench/|^libs/testing/)';

/** Pure files of a service, by folder or by the first or last word of their name. */
const FIRST = 'classify|decide|detect|evaluate|judge|match|parse|project|render|settle';
const LAST =
  'aggregates|bodies|evidence|fields|filter|name|protocol|query|recipients|schedule|state|status|threading|time|window';
const PURE = [
  '^apps/.+/decisions/',
  '^apps/webhook/src/lanes/(lane|lanes|turns|due-delivery)[.]ts$',
  `^apps/.+/(${FIRST})-[^/]+[.]ts$`,
  `^apps/.+[-/](${LAST})[.]ts$`,
];

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle means that two files are one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'kernel-is-alone',
      comment: 'The kernel has no third-party code and no I/O.',
      severity: 'error',
      from: { path: '^libs/kernel/', pathNot: TESTS },
      to: { path: 'node_modules/' },
    },
    {
      name: 'formats-are-pure',
      comment: 'A codec reads bytes and gives values; it opens nothing.',
      severity: 'error',
      from: { path: '^libs/formats/', pathNot: TESTS },
      to: { path: '^(node:)?(fs|net|http|https|tls|dns|child_process|worker_threads)(/|$)' },
    },
    {
      name: 'decisions-are-pure',
      comment:
        'What decides, parses, renders or names the states of something imports no store, socket or database.',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: {
        path: '(-(store|sql)\\.ts$|^apps/[^/]+/src/(db|database)/(?!sql-parameters)|^libs/platform/(postgres|grpc|blobs|log|shared-state|audit)/|^(node:)?(fs|net|http|https|tls|dns|worker_threads)(/|$)|/pg/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'express-in-gateway-only',
      comment: 'The gateway is the only app that speaks HTTP.',
      severity: 'error',
      from: { pathNot: `(^apps/gateway/|${TESTS})` },
      to: { path: 'node_modules/express/' },
    },
    {
      name: 'drivers-in-platform-only',
      comment: 'Redis, Kafka, gRPC transport, logger and metrics are reached through platform.',
      severity: 'error',
      from: { path: '^apps/', pathNot: TESTS },
      to: { path: 'node_modules/(redis|@redis|kafkajs|@grpc/grpc-js|pino)/' },
    },
    {
      name: 'generated-at-the-edges',
      comment:
        'Generated types are imported through @dak/contracts, Prisma clients by their own app.',
      severity: 'error',
      from: { pathNot: '^(libs/contracts/src/|apps/[^/]+/(src|bench)/)' },
      to: { path: '/generated/' },
    },
    {
      name: 'generated-prisma-of-own-app',
      comment: 'A Prisma client belongs to one service.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/([^/]+)/src/generated/', pathNot: '^apps/$1/src/generated/' },
    },
    {
      name: 'testing-in-tests-only',
      comment: 'What only tests use is imported by tests only.',
      severity: 'error',
      from: { pathNot: TESTS },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'apps-apart',
      comment: 'Apps meet in contracts; only the standalone composition sees several.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/standalone/' },
      to: { path: '^apps/([^/]+)/', pathNot: '^apps/$1/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^dist/|/src/generated/.+/(models|internal|commonInputTypes))' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default'],
    },
  },
};
