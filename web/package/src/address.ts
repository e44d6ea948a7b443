// What a bundler makes of `import wasm from "sapwood/sapwood.wasm"`: the module's address. For types only.
declare const address: string;
export default address;
