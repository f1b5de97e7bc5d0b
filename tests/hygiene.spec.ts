import { describe, expect, it } from 'vitest'
import { read, repositoryFiles } from './workspace.ts'

// Written so that they do not match themselves.
const unwanted = {
  'a path of somebody\'s machine': /(?<![\w.~-])\/(?:(?:home|Users)\/\w|(?:root|work|farm)\/)/,
  'the host of a package registry': /\bregistry\.[a-z\d-]+\.[a-z]{2,}|\bnpm\.jsr\.io\b/,
  'a key': /\b(?:sk-[A-Za-z\d]{20}|gh[opsu]_[A-Za-z\d]{20}|github_pat_\w{20}|AKIA[A-Z\d]{16}|xox[abp]-\d+-\d|npm_[A-Za-z\d]{36})|-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  'where a tarball came from': /\btarball: *['"]?http/,
}

// In pieces, for the same reason.
const samples: Record<keyof typeof unwanted, readonly string[]> = {
  'a path of somebody\'s machine': [['', 'home', 'me', 'x'], ['cd ', 'Users', 'me'], ['"', 'root', '.npmrc']].map(parts => parts.join('/')),
  'the host of a package registry': [['https://registry', 'npmjs', 'org'], ['registry', 'example', 'com']].map(parts => parts.join('.')),
  'a key': [['sk', 'a1'.repeat(20)], ['-----BEGIN RSA PRIVATE KEY', '----']].map(parts => parts.join('-')),
  'where a tarball came from': [['tarball', ' https', '//127.0.0.1/x.tgz']].map(parts => parts.join(':')),
}

describe.each(Object.entries(unwanted))('no file holds %s', (what, pattern) => {
  it('now', () => {
    const found = repositoryFiles().flatMap(file => read(file).split('\n')
      .flatMap((text, index) => pattern.test(text) ? [`${file}:${index + 1}`] : []))
    expect(found).toEqual([])
  })

  it('unseen', () => {
    const examples = samples[what as keyof typeof unwanted]
    expect(examples.filter(example => !pattern.test(example))).toEqual([])
  })
})
