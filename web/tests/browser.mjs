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
];

export const backends = {
  swiftshader: ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  llvmpipe: ['--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
};

// Where Chromium is; undefined: nowhere.
export const executable = [process.env.CHROMIUM, ...paths].find((path) => path && fs.existsSync(path));

export async function launch(backend, more = []) {
  return chromium.launch({ executablePath: executable, headless: true, args: [...quiet, ...backends[backend], ...more] });
}
