// The page's server on a free port, for tests: { address, close }.
import { serve as begin } from '../serve.mjs';

export async function serve(folder) {
  const { server, address } = await begin(folder);
  return { address: address.replace(/\/$/, ''), close: () => server.close() };
}
