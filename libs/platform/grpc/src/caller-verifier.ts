import type { KeyObject } from 'node:crypto';
import type { Principal } from '@dak/kernel';
import { PrincipalVerifier } from './principal-token';
import { SERVICE_TOKEN_HEADER, ServiceVerifier } from './service-token';

/** Tells who calls: a person through the gateway, the gateway itself, or another service. */
export class CallerVerifier {
  private readonly people: PrincipalVerifier;
  private readonly services: ServiceVerifier;

  /**
   * @param gatewayKey Ed25519, the public half of the gateway's
   * @param secret the deployment's, at least 32 characters
   * @param audience name of the service that is called: tokens for another one are refused
   */
  constructor(gatewayKey: KeyObject, secret: string, audience: string) {
    this.people = new PrincipalVerifier(gatewayKey, audience);
    this.services = new ServiceVerifier(secret, audience);
  }

  /**
   * @returns the person, or `null` when the gateway or another service calls for itself
   * @throws DomainError `unauthenticated` for an unsigned, altered or expired token, or one for another service
   */
  verify(token: string, now: number = Date.now()): Principal | null {
    if (!token.startsWith(`${SERVICE_TOKEN_HEADER}.`)) return this.people.verify(token, now);
    this.services.verify(token, now);
    return null;
  }
}
