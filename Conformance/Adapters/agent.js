// The agent for Deno: the acts of docs/reference/adapters.md by Deno's own file functions.

const held = new Map();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Deno's errors by the errno that a program would see. `code` is there when the operating system refused.
const byClass = {
  NotFound: "ENOENT", PermissionDenied: "EACCES", NotCapable: "EACCES", AlreadyExists: "EEXIST", NotADirectory: "ENOTDIR",
  IsADirectory: "EISDIR", FilesystemLoop: "ELOOP", BadResource: "EBADF", InvalidData: "EINVAL", TypeError: "EINVAL",
};
const errnoOf = (error) => error.code ?? byClass[error.name] ?? error.name;

class Unsupported extends Error {}
const unsupported = (reason) => () => { throw new Unsupported(reason); };

function readAll(file) {
  file.seekSync(0, Deno.SeekMode.Start);
  const parts = [];
  const block = new Uint8Array(65536);
  for (let got; (got = file.readSync(block)) !== null;) parts.push(...block.subarray(0, got));
  return decoder.decode(new Uint8Array(parts));
}

function writeAll(file, text) {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

function put(path, text, options, finish = () => {}) {
  const file = Deno.openSync(path, { write: true, ...options });
  try {
    writeAll(file, text);
    finish(file);
  } finally {
    file.close();
  }
}

function save({ path, text }) {
  const slash = path.lastIndexOf("/") + 1;
  const beside = `${path.slice(0, slash)}.${path.slice(slash)}.saving`;
  put(beside, text, { createNew: true }, (file) => file.syncSync());
  try {
    Deno.renameSync(beside, path);
  } catch (error) {
    Deno.removeSync(beside);
    throw error;
  }
}

function stat({ path }) {
  const status = Deno.lstatSync(path);
  const kind = status.isFile ? "file" : status.isDirectory ? "folder" : status.isSymlink ? "link" : "other";
  return { kind, size: status.size, mode: (status.mode & 0o7777).toString(8), inode: status.ino };
}

function hold({ path, write, as }) {
  held.set(as ?? "held", Deno.openSync(path, { read: true, write: write === true }));
}

function heldFile(name) {
  const file = held.get(name ?? "held");
  if (!file) throw new Deno.errors.BadResource();
  return file;
}

function heldWrite(request) {
  const file = heldFile(request.held);
  file.seekSync(0, Deno.SeekMode.Start);
  writeAll(file, request.text);
}

function drop(request) {
  heldFile(request.held).close();
  held.delete(request.held ?? "held");
}

function lock({ path, how }) {
  if (how !== "flock") throw new Unsupported("Deno locks by flock alone");
  const file = Deno.openSync(path, { read: true, write: true });
  if (!file.tryLockSync(true)) {
    file.close();
    throw Object.assign(new Error(), { code: "EAGAIN" });
  }
}

function run({ path, args }) {
  const { code, stdout } = new Deno.Command(path, { args: args ?? [], stdin: "null", stderr: "inherit" }).outputSync();
  return { status: code, text: decoder.decode(stdout) };
}

function environment({ name }) {
  const text = Deno.env.get(name);
  if (text === undefined) throw new Deno.errors.NotFound();
  return { text };
}

async function connect({ path }) {
  (await Deno.connect({ transport: "unix", path })).close();
}

const acts = {
  read: ({ path }) => ({ text: decoder.decode(Deno.readFileSync(path)) }),
  write: ({ path, text }) => put(path, text, { truncate: true }),
  append: ({ path, text }) => put(path, text, { append: true }),
  create: ({ path, text }) => put(path, text, { createNew: true }),
  save,
  list: ({ path }) => ({ names: [...Deno.readDirSync(path)].map((entry) => entry.name).sort() }),
  stat,
  makeFolder: ({ path }) => Deno.mkdirSync(path),
  remove: ({ path }) => Deno.removeSync(path),
  rename: ({ path, to }) => Deno.renameSync(path, to),
  hardLink: ({ path, to }) => Deno.linkSync(path, to),
  link: ({ path, text }) => Deno.symlinkSync(text, path),
  readLink: ({ path }) => ({ text: Deno.readLinkSync(path) }),
  truncate: ({ path }) => Deno.truncateSync(path, 0),
  mode: ({ path, mode }) => Deno.chmodSync(path, parseInt(mode, 8)),
  times: ({ path }) => Deno.utimeSync(path, 978307200, 978307200),
  attribute: unsupported("Deno has no extended attributes"),
  unnamed: unsupported("Deno has no files without a name"),
  hold,
  heldRead: (request) => ({ text: readAll(heldFile(request.held)) }),
  heldWrite,
  heldPath: unsupported("Deno does not tell a descriptor's number"),
  drop,
  mapWrite: unsupported("Deno has no shared mappings"),
  lock,
  run,
  connect,
  watch: unsupported("Deno's watcher is not inotify"),
  watched: unsupported("Deno's watcher is not inotify"),
  environment,
  pid: () => ({ pid: Deno.pid }),
};

async function answer(line) {
  let request;
  try {
    request = JSON.parse(line);
    if (!Object.hasOwn(acts, request.do)) return { unsupported: `no act is called “${request.do}”` };
    return { done: true, ...await acts[request.do](request) };
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    return request ? { done: false, errno: errnoOf(error) } : { error: "the request is no JSON object with the key do" };
  }
}

const block = new Uint8Array(65536);
const stream = new TextDecoder();
for (let waiting = "", got; (got = Deno.stdin.readSync(block)) !== null;) {
  waiting += stream.decode(block.subarray(0, got), { stream: true });
  for (let end; (end = waiting.indexOf("\n")) !== -1; waiting = waiting.slice(end + 1)) {
    writeAll(Deno.stdout, JSON.stringify(await answer(waiting.slice(0, end))) + "\n");
  }
}
