import { describeFailure, scrub } from '@offshoot/model'

const maxDiagnosticBytes = 4096

/** A failure in one scrubbed line. */
export function failureText(error: unknown): string {
  return describeFailure(error)
}

/** A diagnostic as the contract promises it: scrubbed, at most 4 KB. */
export function cleanDiagnostic(text: string): string {
  const clean = scrub(text)
  if (Buffer.byteLength(clean) <= maxDiagnosticBytes) return clean
  return Buffer.from(clean).subarray(0, maxDiagnosticBytes - 4).toString('utf8').replace(/�+$/, '') + '…'
}
