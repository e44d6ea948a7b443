// Firefox and WebKit, the engine of Safari, by commands of W3C WebDriver: Firefox takes them on a socket of its own
// (Marionette), WebKit through WebKitWebDriver by HTTP. Both draw on the CPU, on a screen of Xvfb.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { patience } from './browser.mjs';

const find = (...names) => names.flatMap((name) => process.env.PATH.split(':').map((folder) => path.join(folder, name))).find((file) => fs.existsSync(file));
const screen = find('Xvfb');
const programs = { Firefox: find('firefox-esr', 'firefox'), WebKit: find('WebKitWebDriver') };
const packages = { Firefox: 'firefox-esr', WebKit: 'webkit2gtk-driver' };

// Why a browser cannot be opened here; '': it can.
export const lacks = (name) => (programs[name] && screen ? '' : `${name} is not installed (Debian packages ${packages[name]} and xvfb)`);

// A program and what it starts, until it is stopped; `written`: what they have written.
function begin(program, options, env) {
  const child = spawn(program, options, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const one = { written: '', stop: () => process.kill(-child.pid) };
  child.on('exit', () => (one.stop = () => undefined));
  process.once('exit', () => one.stop());
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (one.written += data));
  return one;
}
async function until(test, late) {
  for (const end = Date.now() + patience; Date.now() < end; await wait(100)) {
    const result = await test();
    if (result) return result;
  }
  throw new Error(late);
}
async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// ---- Firefox

const preferences = {
  'webgl.force-enabled': true,
  'ui.prefersReducedMotion': 1,
  'browser.dom.window.dump.enabled': true, // errors and warnings of pages go to its streams
  'datareporting.policy.dataSubmissionEnabled': false,
  'marionette.port': 0,
};

async function beginFirefox(start, folder, env) {
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
  fs.writeFileSync(path.join(folder, 'user.js'), lines.join(''));
  const program = start(programs.Firefox, ['--marionette', '--no-remote', '--profile', folder], env);
  const file = path.join(folder, 'MarionetteActivePort');
  const socket = net.connect(await until(() => fs.existsSync(file) && Number(fs.readFileSync(file, 'utf8')), 'Firefox does not start'), '127.0.0.1');
  const calls = [];
  let bytes = Buffer.alloc(0);
  socket.on('error', () => undefined).on('close', () => calls.forEach(({ reject }) => reject(new Error('Firefox has ended'))));
  socket.on('data', (data) => {
    bytes = Buffer.concat([bytes, data]);
    for (let colon; (colon = bytes.indexOf(':')) > 0;) { // LENGTH:MESSAGE
      const end = colon + 1 + Number(bytes.subarray(0, colon));
      if (bytes.length < end) break;
      const message = JSON.parse(bytes.subarray(colon + 1, end));
      bytes = bytes.subarray(end);
      if (!Array.isArray(message)) continue; // its greeting
      const [, call, error, answer] = message;
      if (error) calls[call].reject(new Error(`${error.error}: ${error.message}`));
      else calls[call].resolve(answer?.value ?? answer);
    }
  });
  const call = (name, body = {}) => new Promise((resolve, reject) => {
    const line = JSON.stringify([0, calls.push({ resolve, reject }) - 1, `WebDriver:${name}`, body]);
    socket.write(`${Buffer.byteLength(line)}:${line}`);
  });
  const { capabilities } = await call('NewSession');
  return { call, program, version: `Firefox ${capabilities.browserVersion}`, end: () => void socket.destroy() };
}

// ---- WebKit

const ways = { Navigate: 'url', ExecuteScript: 'execute/sync', ExecuteAsyncScript: 'execute/async', SetTimeouts: 'timeouts', SetWindowRect: 'window/rect', PerformActions: 'actions' };

async function beginWebKit(start, folder, env) {
  fs.mkdirSync(path.join(folder, 'gtk-3.0'));
  fs.writeFileSync(path.join(folder, 'gtk-3.0/settings.ini'), '[Settings]\ngtk-enable-animations=0\n'); // reduced motion
  const port = await freePort();
  const program = start(programs.WebKit, [`--port=${port}`], { ...env, JSC_useSharedArrayBuffer: '1' }); // which Safari has, but not WebKitGTK
  const send = async (method, where, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/${where}`, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  await until(() => send('GET', 'status').catch(() => undefined), 'WebKitWebDriver does not start');
  const { sessionId, capabilities } = await send('POST', 'session', { capabilities: {} });
  const call = (name, body = {}) => send('POST', `session/${sessionId}/${ways[name]}`, body);
  return { call, program, version: `WebKitGTK ${capabilities.browserVersion}`, end: () => send('DELETE', `session/${sessionId}`) };
}

// ---- Either

// A browser with one window, to be closed.
export async function openBrowser(name) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sapwood-browser-'));
  const started = [];
  const start = (...what) => started[started.push(begin(...what)) - 1];
  const clear = async () => {
    for (const program of started.reverse()) program.stop();
    await wait(300); // they write until they are gone
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const opened = async () => {
    const display = start(screen, ['-displayfd', '1', '-screen', '0', '1000x1000x24', '-nolisten', 'tcp']);
    const number = await until(() => /^\d+\n/m.exec(display.written)?.[0].trim(), 'Xvfb does not start');
    return (name === 'Firefox' ? beginFirefox : beginWebKit)(start, folder, { DISPLAY: `:${number}`, HOME: folder, XDG_CONFIG_HOME: folder });
  };
  const { call, program, version, end } = await opened().catch(async (error) => {
    await clear();
    throw error;
  });
  await call('SetTimeouts', { script: patience, pageLoad: patience });
  return {
    version,
    call,
    async go(url) {
      await call('Navigate', { url });
      // On a busy machine Firefox may say so while the old document is still there.
      const script = 'return document.readyState === "complete" && location.href.split("#")[0] === arguments[0]';
      await until(() => call('ExecuteScript', { script, args: [url.split('#')[0]] }).catch(() => false), `${url} does not open`);
    },
    // Runs a function, or its text, in the page; resolves to what it returns, or throws what it throws.
    async run(work, ...args) {
      const script = `const [text, given, done] = arguments; // eval: Firefox has globals of its own for such scripts
        window.eval('(async (given) => (' + text + ')(...given))')(given).then((value) => done({ value }), (error) => done({ error: error + '\\n' + error?.stack }));`;
      const { value, error } = await call('ExecuteAsyncScript', { script, args: [String(work), args] });
      if (error !== undefined) throw new Error(error);
      return value;
    },
    press: (key) => call('PerformActions', { actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value: key }, { type: 'keyUp', value: key }] }] }),
    // Errors and warnings of pages, where the browser writes them: Firefox does.
    written: () => program.written.match(/^JavaScript (error|warning): (?!resource:|chrome:).*$/gm) ?? [],
    async close() {
      await end();
      await clear();
    },
  };
}
