import { decideSendTime, parseSendAt } from './send-time';
import { nextOpening, type SendWindow } from './send-window';

const at = (text: string) => Date.parse(text);
const opening = (window: SendWindow, time: string) =>
  new Date(nextOpening(window, at(time))).toISOString();
const office: SendWindow = {
  timeZone: 'Asia/Kolkata',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  to: '17:30',
};

describe('the next opening of a window', () => {
  it('is now while it is open', () => {
    expect(opening(office, '2026-11-20T05:00:00Z')).toBe('2026-11-20T05:00:00.000Z');
  });
  it('is the next morning, over a weekend too', () => {
    expect(opening(office, '2026-11-19T12:00:00Z')).toBe('2026-11-20T03:30:00.000Z');
    expect(opening(office, '2026-11-20T12:00:00Z')).toBe('2026-11-23T03:30:00.000Z');
    expect(opening(office, '2026-11-20T01:00:00Z')).toBe('2026-11-20T03:30:00.000Z');
  });
  it('reaches past midnight', () => {
    const night: SendWindow = { timeZone: 'UTC', days: ['fri'], from: '22:00', to: '06:00' };
    expect(opening(night, '2026-11-21T03:00:00Z')).toBe('2026-11-21T03:00:00.000Z');
    expect(opening(night, '2026-11-21T06:00:00Z')).toBe('2026-11-27T22:00:00.000Z');
  });
  it('keeps to the clock on the wall when it changes', () => {
    const berlin: SendWindow = {
      ...office,
      timeZone: 'Europe/Berlin',
      days: ['sun', 'mon', 'sat'],
    };
    // 25 October 2026: back by an hour at 3; 29 March 2026: ahead at 2.
    expect(opening(berlin, '2026-10-24T20:00:00Z')).toBe('2026-10-25T08:00:00.000Z');
    expect(opening(berlin, '2026-03-28T20:00:00Z')).toBe('2026-03-29T07:00:00.000Z');
  });
  it('opens after the hour that does not exist', () => {
    const early: SendWindow = {
      timeZone: 'Europe/Berlin',
      days: ['sun'],
      from: '02:30',
      to: '04:00',
    };
    expect(opening(early, '2026-03-28T23:00:00Z')).toBe('2026-03-29T01:30:00.000Z');
  });
});

describe('when a mail leaves', () => {
  const now = at('2026-11-20T12:00:00Z');
  const request = { sendAt: null, window: null, undoSeconds: null };

  it('after the undo time of whoever sends', () => {
    expect(decideSendTime(request, 10, now).hold).toEqual({ reason: 'undo', until: now + 10_000 });
    expect(decideSendTime(request, 0, now).hold).toBeNull();
    expect(decideSendTime({ ...request, undoSeconds: 30 }, 0, now).undoUntil).toBe(now + 30_000);
    expect(decideSendTime({ ...request, undoSeconds: 0 }, 10, now).hold).toBeNull();
  });
  it('at the time asked for, moved into the window', () => {
    const sendAt = '2026-11-21T12:00:00+05:30';
    expect(decideSendTime({ ...request, sendAt }, 10, now).hold).toEqual({
      reason: 'scheduled',
      until: at(sendAt),
    });
    const opened = decideSendTime({ ...request, sendAt, window: office }, 10, now);
    expect(new Date(opened.sendAt!).toISOString()).toBe('2026-11-23T03:30:00.000Z');
  });
  it('at once inside a window, else when it opens', () => {
    const open = at('2026-11-20T05:00:00Z');
    expect(decideSendTime({ ...request, window: office }, 0, open).hold).toBeNull();
    expect(decideSendTime({ ...request, window: office }, 0, now).hold?.reason).toBe('scheduled');
  });
  it('within a minute to 180 days', () => {
    for (const text of ['2026-11-20T12:00:30Z', '2026-11-19T12:00:00Z', '2027-05-20T12:00:00Z']) {
      expect(() => parseSendAt(text, now)).toThrow('send_at');
    }
    expect(parseSendAt('2026-11-20T12:01:00Z', now)).toBe(now + 60_000);
  });
});
