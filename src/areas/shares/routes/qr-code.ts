import encodeQR from 'qr';

/** The light modules around the symbol (ISO/IEC 18004, quiet zone). */
const quietZone = 4;

/**
 * Draws a text as a QR code (ISO/IEC 18004) with error correction M, which repairs 15 %. The picture has no size in
 * pixels: a module is one unit, and the picture is sharp at every size.
 * @returns SVG 1.1
 */
export function qrCodeSvg(text: string): string {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: quietZone });
  const size = modules.length;
  const dark = modules.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${dark.join('')}"/></svg>`
  );
}
