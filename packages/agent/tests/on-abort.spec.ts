import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { onAbort } from '../src/index.ts'

describe('onAbort()', () => {
  it('calls every listener once, in the order in which they came', () => {
    const controller = new AbortController()
    const called: number[] = []
    for (let i = 0; i < 3; i++) onAbort(controller.signal, () => { called.push(i) })
    controller.abort()
    controller.abort()
    expect(called).toEqual([0, 1, 2])
  })

  it('puts one listener on the signal, however many there are, and none once they are gone', () => {
    const { signal } = new AbortController()
    const offs = Array.from({ length: 1000 }, () => onAbort(signal, () => {}))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const off of offs.slice(1)) off()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    offs[0]!()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('listens again after the last listener had gone', () => {
    const controller = new AbortController()
    onAbort(controller.signal, () => {})()
    let called = 0
    const off = onAbort(controller.signal, () => { called++ })
    controller.abort()
    expect(called).toBe(1)
    off()
  })

  it('forgets a listener twice without harm to the others', () => {
    const controller = new AbortController()
    let called = 0
    const off = onAbort(controller.signal, () => {})
    onAbort(controller.signal, () => { called++ })
    off()
    off()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    expect(called).toBe(1)
  })

  it('keeps signals apart', () => {
    const [one, two] = [new AbortController(), new AbortController()]
    const called: string[] = []
    onAbort(one.signal, () => { called.push('one') })
    onAbort(two.signal, () => { called.push('two') })
    two.abort()
    expect(called).toEqual(['two'])
  })

  it('never calls for a signal that had aborted already', () => {
    let called = 0
    onAbort(AbortSignal.abort(), () => { called++ })()
    expect(called).toBe(0)
  })

  it('calls the others when one throws, and lets the error out where Node reports it', async () => {
    const controller = new AbortController()
    const called: string[] = []
    onAbort(controller.signal, () => { throw new Error('broken listener') })
    onAbort(controller.signal, () => { called.push('second') })
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    try {
      const uncaught = new Promise(resolve => { process.once('uncaughtException', resolve) })
      controller.abort()
      expect(await uncaught).toEqual(new Error('broken listener'))
    } finally {
      for (const listener of before) process.on('uncaughtException', listener)
    }
    expect(called).toEqual(['second'])
  })
})
