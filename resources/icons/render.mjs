/**
 * Draws icon.svg at every size and packs the Windows and macOS files. Run by hand after the mark has changed:
 * `node resources/icons/render.mjs`. CHROMIUM names the browser that draws.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const HERE = dirname(fileURLToPath(import.meta.url));
const SIZES = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
const ICO_SIZES = [16, 24, 32, 48, 64, 128, 256];
/** Apple's names for the PNG entries of an icns file. */
const ICNS_TYPES = {
  16: 'icp4',
  32: 'icp5',
  64: 'icp6',
  128: 'ic07',
  256: 'ic08',
  512: 'ic09',
  1024: 'ic10',
};
const ICO_HEADER_BYTES = 6;
const ICO_ENTRY_BYTES = 16;

const draw = async () => {
  const svg = readFileSync(join(HERE, 'icon.svg'), 'utf8');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const images = new Map();
  try {
    const page = await browser.newPage();
    for (const size of SIZES) {
      await page.setViewportSize({ width: size, height: size });
      await page.setContent(
        `<style>body{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
      );
      images.set(size, await page.screenshot({ omitBackground: true }));
    }
  } finally {
    await browser.close();
  }
  return images;
};

/** ICO with PNG images, as Windows reads since Vista. */
const ico = (images) => {
  const header = Buffer.alloc(ICO_HEADER_BYTES + ICO_ENTRY_BYTES * ICO_SIZES.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(ICO_SIZES.length, 4);
  let offset = header.length;
  ICO_SIZES.forEach((size, index) => {
    const image = images.get(size);
    const at = ICO_HEADER_BYTES + ICO_ENTRY_BYTES * index;
    header.writeUInt8(size % 256, at); // 0 stands for 256
    header.writeUInt8(size % 256, at + 1);
    header.writeUInt16LE(1, at + 4);
    header.writeUInt16LE(32, at + 6);
    header.writeUInt32LE(image.length, at + 8);
    header.writeUInt32LE(offset, at + 12);
    offset += image.length;
  });
  return Buffer.concat([header, ...ICO_SIZES.map((size) => images.get(size))]);
};

const icnsEntry = (type, body) => {
  const head = Buffer.alloc(8);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(body.length + head.length, 4);
  return Buffer.concat([head, body]);
};

const icns = (images) =>
  icnsEntry(
    'icns',
    Buffer.concat(
      Object.entries(ICNS_TYPES).map(([size, type]) => icnsEntry(type, images.get(Number(size)))),
    ),
  );

const images = await draw();
for (const [size, image] of images) writeFileSync(join(HERE, `${size}x${size}.png`), image);
writeFileSync(join(HERE, 'icon.ico'), ico(images));
writeFileSync(join(HERE, 'icon.icns'), icns(images));
