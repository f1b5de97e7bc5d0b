/**
 * How many times as long `ours` takes as `theirs`, each of which says how long it took, in alternating pairs: which goes first alternates, as the machine may be warmer for the second.
 * Each runs once before.
 */
export async function ratioOf(pairs: number, ours: () => Promise<number>, theirs: () => Promise<number>): Promise<{ readonly median: number, readonly says: string }> {
  await ours()
  await theirs()
  const ratios: number[] = []
  for (let i = 0; i < pairs; i++) {
    const [first, second] = i % 2 === 0 ? [await ours(), await theirs()] : [await theirs(), await ours()]
    ratios.push(i % 2 === 0 ? first / second : second / first)
  }
  const median = ratios.sort((a, b) => a - b)[Math.floor(pairs / 2)]!
  return { median, says: `median ratio ${median.toFixed(3)} of ${pairs} pairs (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)})` }
}
