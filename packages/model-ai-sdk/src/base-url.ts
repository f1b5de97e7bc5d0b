import { scrub } from '@offshoot/model'
import { EndpointError } from './error.ts'

/**
 * Check that `baseURL` is a plain http(s) URL. `wanted` says in words what would be right.
 *
 * @throws {EndpointError} `INVALID_BASE_URL`.
 */
export function checkBaseURL(baseURL: string, wanted: string): void {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EndpointError('INVALID_BASE_URL', `baseURL "${scrub(baseURL)}" is no http(s) URL; give ${wanted}`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new EndpointError('INVALID_BASE_URL',
      `baseURL "${url.origin}${url.pathname}" must end with its path; give ${wanted}; credentials belong in apiKey or headers, and a query is not supported`)
  }
}
