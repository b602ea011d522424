// A file system in memory for Go's package os, which asks globalThis.fs as Node.js has it. Tests and effects of a policy
// work in temporary directories of it. Each call is answered at once. Times are in milliseconds.
const O = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_SYNC: 1052672 };
const DIRECTORY = 0o040000, FILE = 0o100000;

let serial = 1;
const node = (mode) => ({ ino: serial++, mode, mtime: Date.now(), data: new Uint8Array(0), size: 0, entries: (mode & DIRECTORY) && new Map() });
const root = node(DIRECTORY | 0o755);
root.entries.set("tmp", node(DIRECTORY | 0o777));
const open = new Map(); // by number: a node, and where it is read next
let next = 100;

const fail = (code) => { throw { code, message: code }; }; // no Error, whose stack takes longer than the call
const parts = (path) => path.split("/").reduce((all, part) => {
  if (part === "..") all.pop();
  else if (part !== "" && part !== ".") all.push(part);
  return all;
}, []);

// find returns the directory of a path, its name in there, and what has this name.
function find(path) {
  const names = parts(path), name = names.pop();
  let dir = root;
  for (const one of names) {
    dir = dir.entries.get(one) ?? fail("ENOENT");
    if (!dir.entries) fail("ENOTDIR");
  }
  return { dir, name, found: name === undefined ? root : dir.entries.get(name) };
}

const existing = (path) => find(path).found ?? fail("ENOENT");
const opened = (fd) => open.get(fd) ?? fail("EBADF");

function resize(file, size) {
  if (size > 64 << 20) fail("EFBIG");
  if (size > file.data.length) {
    const data = new Uint8Array(Math.max(size, file.data.length * 2));
    data.set(file.data.subarray(0, file.size));
    file.data = data;
  } else if (size < file.size) file.data.fill(0, size, file.size);
  file.size = size;
  file.mtime = Date.now();
}

function stat(n) {
  const ms = n.mtime;
  return {
    dev: 1, ino: n.ino, mode: n.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: n.size, blksize: 4096, blocks: Math.ceil(n.size / 512),
    atimeMs: ms, mtimeMs: ms, ctimeMs: ms, isDirectory: () => Boolean(n.entries),
  };
}

const calls = {
  open(path, flags, mode) {
    const { dir, name, found } = find(path);
    let file = found;
    if (file && flags & O.O_CREAT && flags & O.O_EXCL) fail("EEXIST");
    if (!file) {
      if (!(flags & O.O_CREAT)) fail("ENOENT");
      dir.entries.set(name, file = node(FILE | (mode & 0o777)));
      dir.mtime = Date.now();
    }
    if (file.entries && flags & 3) fail("EISDIR");
    if (!file.entries && flags & O.O_DIRECTORY) fail("ENOTDIR");
    if (flags & O.O_TRUNC) resize(file, 0);
    open.set(next, { file, at: 0, append: Boolean(flags & O.O_APPEND) });
    return next++;
  },
  close(fd) { opened(fd); open.delete(fd); },
  read(fd, buffer, offset, length, position) {
    const o = opened(fd), from = position ?? o.at;
    if (o.file.entries) fail("EISDIR");
    const n = Math.max(0, Math.min(length, o.file.size - from));
    buffer.set(o.file.data.subarray(from, from + n), offset);
    if (position == null) o.at += n;
    return n;
  },
  write(fd, buffer, offset, length, position) {
    if (fd === 1 || fd === 2) {
      console.log(new TextDecoder().decode(buffer.subarray(offset, offset + length)));
      return length;
    }
    const o = opened(fd), from = o.append ? o.file.size : position ?? o.at;
    resize(o.file, Math.max(o.file.size, from + length));
    o.file.data.set(buffer.subarray(offset, offset + length), from);
    if (position == null) o.at = from + length;
    return length;
  },
  fstat: (fd) => stat(opened(fd).file),
  stat: (path) => stat(existing(path)),
  lstat: (path) => stat(existing(path)),
  readdir: (path) => [...(existing(path).entries ?? fail("ENOTDIR")).keys()],
  mkdir(path, mode) {
    const { dir, name, found } = find(path);
    if (found) fail("EEXIST");
    dir.entries.set(name, node(DIRECTORY | (mode & 0o777)));
  },
  unlink(path) {
    const { dir, name, found } = find(path);
    if (!found) fail("ENOENT");
    if (found.entries) fail("EISDIR");
    dir.entries.delete(name);
  },
  rmdir(path) {
    const { dir, name, found } = find(path);
    if (!found) fail("ENOENT");
    if (!found.entries) fail("ENOTDIR");
    if (found.entries.size) fail("ENOTEMPTY");
    dir.entries.delete(name);
  },
  rename(from, to) {
    const a = find(from), b = find(to);
    if (!a.found) fail("ENOENT");
    if (b.found?.entries && !a.found.entries) fail("EISDIR");
    if (b.found?.entries?.size) fail("ENOTEMPTY");
    a.dir.entries.delete(a.name);
    b.dir.entries.set(b.name, a.found);
  },
  link(from, to) {
    const b = find(to);
    if (b.found) fail("EEXIST");
    b.dir.entries.set(b.name, existing(from));
  },
  utimes(path, atime, mtime) { existing(path).mtime = mtime * 1000; },
  truncate(path, size) { resize(existing(path), size); },
  ftruncate(fd, size) { resize(opened(fd).file, size); },
  chmod(path, mode) { const n = existing(path); n.mode = (n.mode & ~0o777) | (mode & 0o777); },
  fchmod(fd, mode) { const n = opened(fd).file; n.mode = (n.mode & ~0o777) | (mode & 0o777); },
  chown: (path) => void existing(path),
  fchown: (fd) => void opened(fd),
  lchown: (path) => void existing(path),
  fsync() {},
  readlink(path) { existing(path); fail("EINVAL"); },
  symlink: () => fail("ENOSYS"),
};

globalThis.fs = { constants: O };
for (const [name, call] of Object.entries(calls)) {
  globalThis.fs[name] = (...args) => {
    const done = args.pop();
    let result, error = null;
    try {
      result = call(...args);
    } catch (e) {
      error = e.code ? e : Object.assign(e, { code: "EIO" });
    }
    done(error, result);
  };
}
const id = () => 0;
globalThis.process = { getuid: id, getgid: id, geteuid: id, getegid: id, getgroups: () => [], pid: 1, ppid: 1, umask: () => 0o22, cwd: () => "/", chdir: () => fail("ENOSYS") };
globalThis.path = { resolve: (...all) => "/" + parts(all.reduce((before, one) => (one.startsWith("/") ? one : before + "/" + one), "")).join("/") };
