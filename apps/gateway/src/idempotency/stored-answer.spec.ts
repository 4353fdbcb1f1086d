import { randomBytes } from 'node:crypto';
import { keyHash, openAnswer, sealAnswer } from './stored-answer';

const secret = randomBytes(32);
const reply = {
  status: 201,
  body: { key: 'svc_live_shown_once', name: 'ä' },
  version: 3,
  headers: { Location: '/x' },
};

describe('a stored answer', () => {
  it('is given back as it was', () => {
    expect(openAnswer(secret, 'k', sealAnswer(secret, 'k', reply))).toEqual(reply);
    const empty = { status: 204 };
    expect(openAnswer(secret, 'k', sealAnswer(secret, 'k', empty))).toEqual(empty);
  });

  it('cannot be read with another key or secret, nor when it was changed', () => {
    const sealed = sealAnswer(secret, 'k', reply);
    expect(sealed.toString('latin1')).not.toContain('svc_live');
    expect(() => openAnswer(secret, 'l', sealed)).toThrow();
    expect(() => openAnswer(randomBytes(32), 'k', sealed)).toThrow();
    sealed[sealed.length - 1]! ^= 1;
    expect(() => openAnswer(secret, 'k', sealed)).toThrow();
  });

  it('is found by a hash that does not show the key', () => {
    expect(keyHash('order-1')).toHaveLength(32);
    expect(keyHash('order-1')).toEqual(keyHash('order-1'));
    expect(keyHash('order-1')).not.toEqual(keyHash('order-2'));
  });
});
