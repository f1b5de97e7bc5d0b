export type EndpointErrorCode = 'INVALID_BASE_URL' | 'PROVIDER_NOT_INSTALLED' | 'INVALID_PROVIDER'

/** An endpoint, or a provider package, that cannot be one. Programs switch on `code`; `message` is for people. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError'
  readonly code: EndpointErrorCode

  constructor(code: EndpointErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
