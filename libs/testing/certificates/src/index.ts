export { createCertificateAuthority, type CertificateAuthority } from './certificate-authority';
