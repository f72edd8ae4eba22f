/** How large images of a prompt may be, in characters of base64. The server has the same bounds (attached_images.py). */
export const MOST_IMAGE = 10 * 1024 * 1024;
/** All of one prompt. */
export const MOST_IMAGES = 24 * 1024 * 1024;

/** Whole megabytes of an image that fit into so many characters of base64. */
export const megabytes = (characters: number): number => Math.floor((characters * 3) / 4 / 1_000_000);
