/**
 * What the worker side of the YAML language service imports by a path that this version of the editor no longer
 * has. The build puts this file in its place.
 */
export { initialize } from 'monaco-editor/internal/common/initialize.js';
