// `pnpm test:peers [name …] [--write]`: real agents as children, on a model on 127.0.0.1. Exits 1 when something does not hold.
import { release } from 'node:os'
import { parseArgs } from 'node:util'
import '../build.mjs'
import { install } from './install.mjs'
import { startModel } from './llm/server.mjs'
import { peers } from './peers.mjs'
import { table, writeResults } from './report.mjs'

const { values: { write }, positionals: names } = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean', default: false } } })
const chosen = names.length === 0 ? peers : peers.filter(({ name }) => names.includes(name))
const unknown = names.filter(name => !peers.some(peer => peer.name === name))
if (unknown.length > 0) stop(`There is no peer ${unknown.join(', ')}; there are ${peers.map(({ name }) => name).join(', ')}.`)
if (write && chosen.length < peers.length) stop('--write takes all peers: the table has one column for each.')
if (process.platform !== 'linux') stop('This looks for processes in /proc, which only Linux has.')

// They import what the line above has built.
const { Bench } = await import('./bench.mjs')
const { checks } = await import('./checks.mjs')

const teardown = 'nothing is left behind'
const titles = [...checks.map(({ title }) => title), teardown]
const timeTitles = ['start, ms', 'first answer, ms', 'dispose, ms']

// An exit takes the agents with it; a signal alone would not.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.once(signal, () => process.exit(1))

/** @type {import('./report.mjs').PeerReport[]} */
const reports = []
for (const peer of chosen) reports.push(await report(peer))

const results = table(reports, titles, timeTitles)
console.log(`\n${results}`)
const has = (/** @type {import('./report.mjs').Outcome['status']} */ status) => reports.some(each => each.outcomes.some(outcome => outcome.status === status))
if (has('failed')) process.exitCode = 1
if (write) {
  if (has('skipped')) stop('Nothing was written: a peer was skipped.')
  writeResults(`Measured on ${new Date().toISOString().slice(0, 10)} with Node ${process.versions.node}, Linux ${release().replace(/-.*/, '')}.\n\n${results}`)
}

/** @param {import('./peers.mjs').Peer} peer @returns {Promise<import('./report.mjs').PeerReport>} */
async function report(peer) {
  console.log(`\n${peer.name}: ${peer.package} ${peer.version}`)
  /** @type {string} */
  let command
  try {
    command = await install(peer)
  } catch (error) {
    console.log(`  skipped: ${messageOf(error)}`)
    return { peer, outcomes: titles.map(title => ({ title, status: 'skipped' })), times: [] }
  }
  return withoutInheritance(() => runChecks(peer, command))
}

/** @param {import('./peers.mjs').Peer} peer @param {string} command @returns {Promise<import('./report.mjs').PeerReport>} */
async function runChecks(peer, command) {
  const model = await startModel()
  const bench = await Bench.open(peer, command, model)
  /** @type {import('./report.mjs').Outcome[]} */
  const outcomes = []
  /** @type {string[]} */
  const left = []
  try {
    for (const check of checks) {
      outcomes.push(said(await outcomeOf(check, bench)))
      left.push(...bench.sweep().map(each => `after "${check.title}": ${each}`))
    }
    outcomes.push(said({ title: teardown, ...left.length === 0 ? { status: 'passed' } : { status: 'failed', note: left.join('\n') } }))
  } finally {
    await bench.close()
    await model.close()
  }
  const [first] = bench.times
  return { peer, outcomes, times: first ? [first.startMs, first.answerMs, first.disposeMs].map(ms => `${Math.round(ms)}`) : [] }
}

/** @param {import('./checks.mjs').Check} check @param {import('./bench.mjs').Bench} bench @returns {Promise<import('./report.mjs').Outcome>} */
async function outcomeOf({ title, run }, bench) {
  try {
    return { title, status: 'passed', note: await run(bench) ?? undefined }
  } catch (error) {
    return { title, status: 'failed', note: messageOf(error) }
  }
}

/** @param {import('./report.mjs').Outcome} outcome */
function said(outcome) {
  const { title, status, note } = outcome
  console.log(`  ${status === 'passed' ? 'ok  ' : 'FAIL'}  ${title}${note === undefined ? '' : ` (${note})`}`)
  return outcome
}

/**
 * Without this process's environment but the PATH, so that an agent finds nothing of whoever runs this.
 *
 * @template T
 * @param {() => Promise<T>} body
 */
async function withoutInheritance(body) {
  const before = { ...process.env }
  for (const name of Object.keys(before)) if (name !== 'PATH' && !name.startsWith('OFFSHOOT_')) delete process.env[name]
  try {
    return await body()
  } finally {
    Object.assign(process.env, before)
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/** @param {string} message @returns {never} */
function stop(message) {
  console.error(message)
  process.exit(1)
}
