// Chromium of the system, on either of the two implementations of OpenGL ES that need no GPU.
import fs from 'node:fs';
import { chromium } from 'playwright-core';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const quiet = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage', // containers give little of it, and a tab that lacks it ends
];

export const backends = {
  swiftshader: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  llvmpipe: ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
};

// How long tests wait for what has to come, in ms, and how long a whole one may take: so long that they tell a page which
// hangs from one on a machine that does much else.
export const patience = 240e3;
export const longest = 4 * patience;

// Where Chromium is; undefined: nowhere.
export const executable = [process.env.CHROMIUM, ...paths].find((path) => path && fs.existsSync(path));

export async function launch(backend, more = []) {
  return chromium.launch({ executablePath: executable, headless: true, timeout: patience, args: [...quiet, ...backends[backend], ...more] });
}
