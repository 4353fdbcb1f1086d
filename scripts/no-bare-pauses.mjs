/**
 * A fixed pause in a test proves nothing: on a busy machine it is too short, on an idle one it is time lost. What is to
 * come is waited for, what must not come is shown by something that comes after it.
 */
const message =
  'Wait with `eventually`, or for a barrier that comes after; `timePasses` and `slowPeer` where time is the subject (@dak/testing/waiting).';

export const noBarePauses = {
  files: ['**/*.spec.ts', '**/test/**/*.ts', 'e2e/**/*.ts'],
  rules: {
    'no-restricted-syntax': [
      'error',
      {
        selector:
          "ImportDeclaration[source.value='node:timers/promises'] > ImportSpecifier[imported.name='setTimeout']",
        message,
      },
      {
        selector:
          "NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout'][arguments.0.type='Identifier']",
        message,
      },
    ],
  },
};
