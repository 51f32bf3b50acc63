/** Streams `project-<project id>`. */
export const projectCategory = 'project';
