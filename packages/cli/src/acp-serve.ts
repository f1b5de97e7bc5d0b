// Apart from the app: the client has its first answer before that is loaded.
export { serveAcp } from '@offshoot/acp-agent'
