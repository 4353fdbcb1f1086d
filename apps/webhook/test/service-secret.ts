/** What the services of one test have in common. */
export const SECRET = 'a secret of thirty-two characters';
