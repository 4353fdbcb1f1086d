import { SessionAdmission } from './session-admission';

const limits = { maxSessions: 10, sessionsPerClient: 2, sessionsPerNetwork: 5 };
const reason = (admission: SessionAdmission, address: string) =>
  admission.enter(address)?.reason ?? null;

describe('the admission of sessions', () => {
  it('gives a client its few, however many addresses of its /64 it uses', () => {
    const admission = new SessionAdmission(limits);
    expect(reason(admission, '192.0.2.1')).toBeNull();
    expect(reason(admission, '192.0.2.1')).toBeNull();
    expect(reason(admission, '192.0.2.1')).toBe('client_limit');
    expect(reason(admission, '2001:db8::1')).toBeNull();
    expect(reason(admission, '2001:db8::ffff')).toBeNull();
    expect(reason(admission, '2001:db8::2')).toBe('client_limit');
    admission.leave('192.0.2.1');
    expect(reason(admission, '192.0.2.1')).toBeNull();
  });

  it('keeps a network from taking everything, and says when little is left', () => {
    const admission = new SessionAdmission(limits);
    for (let host = 1; host <= 5; host += 1) {
      expect(reason(admission, `192.0.2.${host}`)).toBeNull();
    }
    expect(reason(admission, '192.0.2.6')).toBe('network_limit');
    for (let net = 1; net <= 5; net += 1) {
      expect(reason(admission, `198.51.${net}.1`)).toBeNull();
    }
    expect(admission.isCrowded).toBe(true);
    expect(reason(admission, '203.0.113.1')).toBe('session_limit');
    for (let host = 1; host <= 5; host += 1) admission.leave(`192.0.2.${host}`);
    expect(admission.sessions).toBe(5);
    expect(admission.isCrowded).toBe(false);
  });
});
