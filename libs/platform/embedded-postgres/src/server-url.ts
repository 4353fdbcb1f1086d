/** `sun_path` less its closing zero, on the system that has the least room (macOS; Linux has 107). */
const LONGEST_SOCKET_PATH = 103;
const LONGEST_NAME = '/.s.PGSQL.65535';

/** Whether a server can have its socket in the folder; else it is reached over loopback. */
export function fitsSocket(folder: string): boolean {
  // PostgreSQL takes a list of folders, with commas between them.
  return !/[,"]/.test(folder) && Buffer.byteLength(folder + LONGEST_NAME) <= LONGEST_SOCKET_PATH;
}

/**
 * URL of the maintenance database of a server whose socket, if it fits, is in `folder`: a round trip over
 * a socket costs both sides about a sixth less than one over loopback.
 */
export function serverUrl(server: {
  user: string;
  password: string;
  folder: string;
  port: number;
}): string {
  const { user, password, folder, port } = server;
  const host = fitsSocket(folder) ? encodeURIComponent(folder) : '127.0.0.1';
  return `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/postgres`;
}
