/** The bundler's way to read a file as text. */
declare module '*.yaml?raw' {
  const text: string;
  export default text;
}
