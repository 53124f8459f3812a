"""What the arguments of operators for images and boxes are.

A line of operators, then what their arguments are; an indented line goes on with the one above.
"""

__all__ = ["TEXTS"]

TEXTS = """
BilinearSampler
  data: Images (N, C, H, W)
SpatialTransformer
  data: Images (N, C, H, W)
  sampler_type: How pixels between are made
  transform_type: Kind of transformation
GridGenerator
  data: (N, 6) for 'affine'; offsets in pixels, (N, 2, H, W), for 'warp'
  transform_type: What data holds: affine matrices, or offsets of each pixel
ROIPooling _contrib_ROIAlign _contrib_RROIAlign _contrib_PSROIPooling
  data: Feature maps (N, C, H, W)
Crop
  h_w: Height and width of the result, where no second array gives them
  offset: Row and column where the crop begins
Correlation
  kernel_size: Edge of the patches that are compared, odd
  stride1: Distance of the places where patches of the first images lie
  stride2: Distance of the displacements
  is_multiply: Whether patches are multiplied; else their absolute difference is taken
depth_to_space space_to_depth
  data: Images (N, C, H, W)
_contrib_box_iou
  lhs: Boxes (..., 4)
  rhs: Boxes (..., 4)
_contrib_box_nms
  data: Boxes (..., boxes, columns), a row each with score, coordinates and perhaps class
  valid_thresh: Boxes with a smaller score do not count
  topk: How many of the best boxes go on; below 1 for all
_contrib_MultiBoxPrior
  data: Feature map (N, C, H, W); its height and width count
  sizes: Sizes of boxes, in shares of the image
  ratios: Ratios of width to height
  clip: Whether boxes are cut off at the image's edge
  steps: Distance of boxes along y and x, in shares of the image; below 0 for 1 / extent
  offsets: Where in its cell a box is centered, y and x
_contrib_MultiBoxDetection
  cls_prob: Predicted probabilities (N, classes, anchors)
  clip: Whether boxes are cut off at the image's edge
  threshold: Boxes with a smaller probability are dropped
  nms_threshold: Boxes that overlap by a larger share are suppressed
  nms_topk: Boxes that go on to suppression; below 1 for all
_contrib_MultiBoxTarget
  label: True boxes (N, objects, 5): class, left, top, right, bottom; class -1 for none
  cls_pred: Predicted scores (N, classes, anchors)
  overlap_threshold: Share of overlap from which on an anchor belongs to an object
  negative_mining_ratio: Negative anchors for each positive one; below 0 for all
  negative_mining_thresh: Anchors of less overlap may be negative
  minimum_negative_samples: Least number of negative anchors
_contrib_AdaptiveAvgPooling2D
  data: Images (N, C, H, W)
  output_size: Height and width of the result
_contrib_BilinearResize2D
  data: Images (N, C, H, W)
  scale_height: Factor of the height
  scale_width: Factor of the width
  mode: How the size is found, by name
im2col col2im
  data: Images (N, C, ...), or columns
  output_size: Spatial extents of the images
_image_crop
  x: Column where the crop begins
  y: Row where the crop begins
  data: Image (H, W, C) or images (N, H, W, C)
_image_to_tensor
  data: Image (H, W, C) or images (N, H, W, C), of bytes
_image_normalize
  data: Image (C, H, W) or images (N, C, H, W)
  mean: What is subtracted, for each channel or for all
  std: What is divided by, for each channel or for all
_image_resize
  data: Image (H, W, C) or images (N, H, W, C)
  size: Width and height, or one number for both
  keep_ratio: With one number, whether it is the shorter side's
_image_random_color_jitter
  brightness: Largest change of the brightness, as a share
  contrast: Largest change of the contrast, as a share
  saturation: Largest change of the saturation, as a share
  hue: Largest change of the hue, as a share
_image_adjust_lighting
  alpha: Factors of the three principal colors
_image_random_lighting
  alpha_std: Standard deviation of the factors of the three principal colors
_cvimread
  filename: Path of the image file
_cvimdecode _cvimread
  flag: 1 to decode in color, 0 in gray
  to_rgb: Whether channels are red, green, blue; else blue, green, red
_cvimresize
  w: New width in pixels
  h: New height in pixels
_cvcopyMakeBorder
  top: Rows above
  bot: Rows below
  left: Columns on the left
  right: Columns on the right
  type: How pixels of the border are made, OpenCV's number; 0 for a constant
  value: Value of all channels of the border
  values: Value of each channel of the border
_contrib_bipartite_matching
  data: Scores (..., rows, columns)
  threshold: Score from which on a pair may be matched
  topk: Number of pairs at most; below 1 for all
  is_ascend: Whether the smallest scores are the best
_contrib_box_decode
  data: What a network adds to the anchors, (B, N, 4)
  clip: Upper limit of the predicted logarithms of sizes; 0 or below for none
  std0: Factor of the first number of each box
  std1: Factor of the second number of each box
  std2: Factor of the third number of each box
  std3: Factor of the fourth number of each box
_contrib_box_encode
  samples: Which anchors count: those above 0.5, (B, N)
  matches: Number of the true box of each anchor, (B, N)
  refs: True boxes (B, M, 4), by corners
  means: What is subtracted from the targets, (4,)
  stds: What the targets are divided by, (4,)
_contrib_Proposal _contrib_MultiProposal
  threshold: Boxes that overlap a better one by a larger share are suppressed
  output_score: Whether to return the scores, too
  iou_loss: Whether bbox_pred moves the corners, instead of center and size
  ratios: Ratios of height to width of the anchors
_contrib_MultiBoxTarget
  ignore_label: Label of anchors that do not count
_contrib_DeformablePSROIPooling
  data: Score maps (N, output_dim * group_size squared, H, W)
  trans: How far each part of a region is moved, (regions, 2 * classes, part_size, part_size)
  part_size: Rows and columns of the grid of parts; 0 for pooled_size
  sample_per_part: Points read along each axis of a part
  trans_std: Factor of the moves
  no_trans: Whether trans is not given
"""
