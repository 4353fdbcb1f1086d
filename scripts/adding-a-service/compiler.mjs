import { join, relative } from 'node:path';
import ts from 'typescript';

/** The type check of a folder, again and again: what has not changed is not read twice. */
export class Compiler {
  #root;
  #config;
  #host;
  #sources = new Map();
  #overlay = new Map();
  #program;

  constructor(root) {
    this.#root = root;
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    this.#config = ts.parseJsonConfigFileContent(config, ts.sys, root);
    this.#host = ts.createCompilerHost(this.#config.options, true);
    this.#host.readFile = (name) => this.#overlay.get(name) ?? ts.sys.readFile(name);
    const read = this.#host.getSourceFile;
    this.#host.getSourceFile = (name, ...rest) => {
      const text = this.#host.readFile(name);
      const known = this.#sources.get(name);
      if (known !== undefined && known.text === text) return known;
      const source = read(name, ...rest);
      if (source !== undefined) this.#sources.set(name, source);
      return source;
    };
  }

  /**
   * @param path of the only file to look at
   * @param overlay texts by path, in place of what the files say
   * @returns one line per error
   */
  problems(path, overlay = {}) {
    this.#overlay = new Map(
      Object.entries(overlay).map(([name, text]) => [join(this.#root, name), text]),
    );
    this.#program = ts.createProgram({
      rootNames: this.#config.fileNames,
      options: this.#config.options,
      host: this.#host,
      oldProgram: this.#program,
    });
    const file =
      path === undefined ? undefined : this.#program.getSourceFile(join(this.#root, path));
    return this.#program.getSemanticDiagnostics(file).map(({ file: at, messageText }) => {
      const where = at === undefined ? '' : relative(this.#root, at.fileName);
      return `${where}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  }
}
