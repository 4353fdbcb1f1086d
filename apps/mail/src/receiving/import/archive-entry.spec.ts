import { archiveEntry } from './archive-entry';

test('a Maildir name tells read flag, time and folder', () => {
  expect(archiveEntry('Maildir/cur/1204000000.M1P2.host:2,FS')).toEqual({
    kind: 'message',
    unread: false,
    arrivedAt: new Date(1204000000_000),
    labels: [],
  });
  expect(archiveEntry('Maildir/new/1204000000.M1P2.host')).toMatchObject({ unread: true });
  expect(archiveEntry('Maildir/.Lists.Foo Bar/cur/1:2,')).toMatchObject({
    unread: true,
    labels: ['folder:lists.foo-bar'],
  });
  expect(archiveEntry('mail/Sent/cur/1;2,S')).toMatchObject({
    unread: false,
    labels: ['folder:sent'],
  });
});

test('.eml files keep their folders as a label', () => {
  expect(archiveEntry('Projects/Été 2024/a.eml')).toMatchObject({
    labels: ['folder:projects.e-te-2024'],
  });
  expect(archiveEntry('a.eml')).toMatchObject({ kind: 'message', labels: [] });
});

test('what lies beside mail is ignored', () => {
  for (const path of ['Maildir/cur/', 'Maildir/dovecot.index', '__MACOSX/a.eml', 'x/.a.eml', '']) {
    expect(archiveEntry(path)).toEqual({ kind: 'ignored' });
  }
});

test('a path out of the archive is refused', () => {
  for (const path of ['../a.eml', 'a/../../b.eml', 'a\\..\\..\\b.eml', 'a\0.eml']) {
    expect(archiveEntry(path)).toMatchObject({ kind: 'refused' });
  }
});
