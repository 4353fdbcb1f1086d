import { gunzipSync } from 'node:zlib';
import { VIEWER_FILES, ViewerFiles, type ViewerFile } from './viewer-files';

const [FILE] = VIEWER_FILES;

/** Counts what is read, and fails first if it is asked to. */
class CountedFiles extends ViewerFiles {
  reads = 0;

  constructor(private readonly failures = 0) {
    super();
  }

  override read(file: ViewerFile): Promise<Buffer> {
    this.reads += 1;
    if (this.reads <= this.failures) return Promise.reject(new Error('too many open files'));
    return super.read(file);
  }
}

describe('the files of the documentation page', () => {
  it.each(VIEWER_FILES)('are packed as they are: %s', async (file) => {
    const viewer = new ViewerFiles();
    expect(gunzipSync(await viewer.readPacked(file)).equals(await viewer.read(file))).toBe(true);
  });

  it('are read once for all who ask', async () => {
    const viewer = new CountedFiles();
    const [one, other] = await Promise.all([viewer.readPacked(FILE), viewer.readPacked(FILE)]);
    expect(one).toBe(other);
    expect(viewer.reads).toBe(1);
  });

  it('are read again after an error', async () => {
    const viewer = new CountedFiles(1);
    await expect(viewer.readPacked(FILE)).rejects.toThrow('too many open files');
    expect((await viewer.readPacked(FILE)).length).toBeGreaterThan(1_000);
  });
});
