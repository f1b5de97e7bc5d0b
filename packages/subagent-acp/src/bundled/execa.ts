export { execa } from 'execa'
