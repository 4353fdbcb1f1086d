import { z } from 'zod';
import { emailShape, passwordShape } from '../../requests';

/** Any secret in use, also one older than a rule for new ones. */
const knownSecret = z.string().min(1).max(200);

export const SignIn = z.object({ email: emailShape, password: knownSecret });
export const AcceptInvite = z.object({ token: knownSecret, password: passwordShape });
export const ChangePassword = z.object({ current: knownSecret, new: passwordShape });
