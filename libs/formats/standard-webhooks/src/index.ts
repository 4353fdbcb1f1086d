export { newSecret, parseSecret } from './secret';
export {
  DEFAULT_TOLERANCE_SECONDS,
  signatureHeader,
  verifySignature,
  type SignedContent,
  type Verification,
} from './signature';
