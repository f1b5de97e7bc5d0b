import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.mjs'

/**
 * @typedef {{ title: string, status: 'passed' | 'failed' | 'skipped' | 'not offered', note?: string | undefined }} Outcome
 * @typedef {{ name: string, package: string, version: string }} Subject who was tried
 * @typedef {{ peer: Subject, outcomes: Outcome[], times: string[] }} PeerReport
 */

const file = 'docs/peers.md'
const markersOf = (/** @type {string} */ what) => /** @type {const} */ ([`<!-- results of ${what}: written by \`npm run test:peers -- --write\` -->`, `<!-- end of results of ${what} -->`])

/** A table in Markdown. @param {PeerReport[]} reports @param {string[]} titles @param {string[]} timeTitles */
export function table(reports, titles, timeTitles) {
  const rows = [
    ['', ...reports.map(({ peer }) => peer.name)],
    ['---', ...reports.map(() => '---')],
    ['version', ...reports.map(({ peer }) => `${peer.package} ${peer.version}`)],
    ...titles.map(title => [title, ...reports.map(({ outcomes }) => cell(outcomes.find(each => each.title === title)))]),
    ...timeTitles.map((title, index) => [title, ...reports.map(({ times }) => times[index] ?? '')]),
  ]
  return rows.map(row => `| ${row.join(' | ')} |`).join('\n')
}

/** @param {Outcome | undefined} outcome */
function cell(outcome) {
  if (!outcome) return ''
  if (outcome.status === 'passed') return outcome.note === undefined ? 'yes' : `yes, ${outcome.note}`
  return outcome.status === 'not offered' ? `not offered: ${outcome.note}` : outcome.status === 'skipped' ? 'skipped' : '**no**'
}

/** Put the results between their markers in docs/peers.md. @param {string} what @param {string} results */
export function writeResults(what, results) {
  const markers = markersOf(what)
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const [begin, end] = markers.map(marker => text.indexOf(marker))
  if (begin === undefined || end === undefined || begin < 0 || end < begin) throw new Error(`${file} has no place for results: it needs the lines ${markers.join(' and ')}`)
  writeFileSync(path, `${text.slice(0, begin + markers[0].length)}\n\n${results}\n\n${text.slice(end)}`)
}
